"""Every public name of this room and where it is from: what type checkers read, and what is loaded on first use."""

from kanopy import extend as extend
from kanopy import hierarchy as hierarchy
from kanopy import ontology as ontology
from kanopy import privacy as privacy
from kanopy._errors import KanopyError as KanopyError
from kanopy._errors import NoSolution as NoSolution
from kanopy._job.guess import guess_job as guess_job
from kanopy._job.job import Job as Job
from kanopy._table import datasets as datasets
from kanopy._table.sources import read_table as read_table
from kanopy.hierarchy import Hierarchy as Hierarchy
from kanopy.hierarchy import build_hierarchy as build_hierarchy
from kanopy.hierarchy import evaluate_hierarchy as evaluate_hierarchy
from kanopy.hierarchy import improve_hierarchy as improve_hierarchy
from kanopy.hierarchy import read_hierarchy as read_hierarchy
from kanopy.hierarchy import suggest_hierarchies as suggest_hierarchies
from kanopy.hierarchy import write_hierarchy as write_hierarchy
from kanopy.masking.job import MaskJob as MaskJob
from kanopy.ontology import load_ontology as load_ontology
from kanopy.release.bound import lower_bound as lower_bound
from kanopy.release.evidence.attacking import attack as attack
from kanopy.release.result import Result as Result
from kanopy.release.run import anonymize as anonymize
from kanopy.release.run import mask as mask
from kanopy.release.sweeps.compare import compare as compare
from kanopy.release.sweeps.explore import explore as explore
from kanopy.study.check import Check as Check
from kanopy.study.check import check as check
from kanopy.study.risk_settings import RiskSettings as RiskSettings
from kanopy.study.risk_study import assess_risk as assess_risk
from kanopy.study.utility_study import assess as assess

__version__: str
