"""Every public name of this room and where it is from: what type checkers read, and what is loaded on first use."""

from kanopy.privacy.base import Model as Model
from kanopy.privacy.closeness import BasicLikeness as BasicLikeness
from kanopy.privacy.closeness import DeltaDisclosure as DeltaDisclosure
from kanopy.privacy.closeness import EnhancedLikeness as EnhancedLikeness
from kanopy.privacy.closeness import EqualCloseness as EqualCloseness
from kanopy.privacy.closeness import HierarchicalCloseness as HierarchicalCloseness
from kanopy.privacy.closeness import OrderedCloseness as OrderedCloseness
from kanopy.privacy.diversity import AlphaK as AlphaK
from kanopy.privacy.diversity import DistinctDiversity as DistinctDiversity
from kanopy.privacy.diversity import EntropyDiversity as EntropyDiversity
from kanopy.privacy.diversity import LPlus as LPlus
from kanopy.privacy.diversity import PSensitive as PSensitive
from kanopy.privacy.diversity import RecursiveDiversity as RecursiveDiversity
from kanopy.privacy.models import MODELS as MODELS
from kanopy.privacy.models import make_model as make_model
from kanopy.privacy.personal import Constrained as Constrained
from kanopy.privacy.personal import EpsilonM as EpsilonM
from kanopy.privacy.personal import Guarding as Guarding
from kanopy.privacy.sizes import AverageRisk as AverageRisk
from kanopy.privacy.sizes import DeltaPresence as DeltaPresence
from kanopy.privacy.sizes import KAnonymity as KAnonymity
from kanopy.privacy.sizes import KMap as KMap
from kanopy.privacy.sizes import PopulationUniqueness as PopulationUniqueness
from kanopy.privacy.sizes import Uniqueness as Uniqueness
