"""All faults. Each module adds its own to the list; the order is that of the tables."""
import faults_of_layers  # noqa: F401
import faults_of_steps  # noqa: F401
import faults_of_runs  # noqa: F401
import faults_of_mixtures  # noqa: F401
import faults_of_ranks  # noqa: F401
import faults_of_training  # noqa: F401
import faults_again  # noqa: F401
import faults_of_tables  # noqa: F401
from fault import FAULTS

__all__ = ["FAULTS"]
