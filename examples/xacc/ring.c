// A ring of images that write into each other's memory: coarrays.
//
//     tca xacc cc -O2 ring.c -o ring && tca run -n 4 -- ./ring
#include <stdio.h>
#include <xmp.h>

#pragma xmp nodes p[*]
int a[6][5]:[*], b[4]:[*];

int main(void) {
  const int images = xmp_num_nodes(), me = xmpc_this_image();
  const int right = (me + 1) % images, left = (me + images - 1) % images;
  int got[3], neighbours[2] = {left, right}, sum = 0, wrong = 0;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 5; j++) a[i][j] = 100 * me + 10 * i + j;
  xmp_sync_all(NULL);

  b[0:2]:[right] = a[4][1:2];   /* a put */
  got[:] = a[1:3][2]:[right];   /* a get */
  sum = a[0][0]:[left] + 1;     /* a get of one element, anywhere in an expression */
  xmp_sync_images(2, neighbours, NULL);

  wrong = b[0] != 100 * left + 41 || b[1] != 100 * left + 42 || got[2] != 100 * right + 32 || sum != 100 * left + 1;
#pragma xmp reduction(max : wrong)
#pragma xmp task on p[0]
  printf("%d images: %s\n", images, wrong ? "WRONG" : "right");
  return wrong;
}
