#include <cstdio>
#include <tca/tca.hpp>

int main() try {
  tca::World world = tca::World::init();  // under `tca run`, mpirun, srun, or alone
  const int right = (world.rank() + 1) % world.size();
  const int left = (world.rank() + world.size() - 1) % world.size();

  // Every rank's part: 64 rows of 64 numbers, of which columns 0 and 63 are ghosts.
  tca::Window<double> u = world.window<double>(64 * 64);
  for (double& value : u.elements()) value = world.rank();

  tca::Chain chain = world.chain("columns");
  chain.put(u.on(right).at(0), u.at(62), tca::stride(64, 64));  // to its column 0 from my column 62
  chain.expect(left);                                           // who writes to me
  chain.commit();                                               // checks, chooses the path, compiles

  for (int step = 0; step < 1000; ++step) {
    chain.start();  // sends column 62 as it is now
    // ... work that needs no ghosts ...
    chain.wait();  // column 0 is here; column 62 may be overwritten
  }
  std::printf("rank %d: column 0 is rank %g's\n", world.rank(), u[0]);
} catch (const tca::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
