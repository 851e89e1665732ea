"""The MPIs under test, which MPIS names; MPI_ABI is where the compiler and the launcher of MPI's standard ABI are."""

import os

MPIS = os.environ.get("MPIS", "").split()
WITH_FORTRAN = [mpi for mpi in MPIS if mpi != "abi"]
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def tool(mpi, name):
    """The program of an MPI that is called mpirun, mpicc or mpif90."""
    if mpi == "abi":
        return os.path.join(os.environ["MPI_ABI"], {"mpirun": "mpiexec", "mpicc": "mpicc_abi"}[name])
    return f"{name}.{mpi}"
