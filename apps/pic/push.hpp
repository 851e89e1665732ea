// Moves particles through a step, and adds up the charge that they carry through the faces of the cells.
#pragma once

#include <cstdint>
#include <vector>

#include "pic/deck.hpp"
#include "pic/domain.hpp"
#include "pic/fields.hpp"
#include "pic/particles.hpp"
#include "pic/vec.hpp"

namespace tca::pic {

// Advances all particles by a step: momenta by J. Boris's method (Proc. 4th Conf. Num. Sim. Plasmas (1970) 3), in the
// field where they are, and then places.
//
// The field is interpolated linearly, but along the direction in which a component lies between two nodes taken as it is.
// The charge of a particle is shared linearly among the nodes of its cell. What it carries from node to node is added to
// `flow`, in units of the undisturbed plasma's charge of a cell and times `units`, in the same place as E. Its way is cut in
// two where it leaves its cell (the zigzag of T. Umeda et al., Comput. Phys. Commun. 156 (2003) 73), and for each part
// charge is conserved exactly (J. Villasenor and O. Buneman, Comput. Phys. Commun. 69 (1992) 306). So the divergence of E
// stays the charge density by itself, up to rounding.
//
// Particles that end in a ghost are appended to `outside`. Returns the kinetic energy in the middle of the step, in units
// of the electrons' rest energy in a cell of undisturbed plasma.
template <class Number>
double push(Particles& particles, const Fields& fields, const Deck& deck, const Domain& domain,
            Vec<Number>* flow, std::vector<std::uint32_t>& outside);

// Adds the charge of all particles to the nodes.
template <class Number>
void deposit_charge(Particles& particles, const Domain& domain, Number* charge);

}  // namespace tca::pic
