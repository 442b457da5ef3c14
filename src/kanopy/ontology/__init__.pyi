"""Every public name of this room and where it is from: what type checkers read, and what is loaded on first use."""

from kanopy.ontology.combine import CombinedOntologies as CombinedOntologies
from kanopy.ontology.compiled import save_ontology as save_ontology
from kanopy.ontology.links import Concept as Concept
from kanopy.ontology.load import load_ontology as load_ontology
from kanopy.ontology.load import read_ontology as read_ontology
from kanopy.ontology.senses.senses import SenseChoices as SenseChoices
from kanopy.ontology.senses.senses import Senses as Senses
from kanopy.ontology.senses.senses import senses_of_hierarchy as senses_of_hierarchy
from kanopy.ontology.senses.senses import senses_of_values as senses_of_values
from kanopy.ontology.senses.senses_file import read_senses as read_senses
from kanopy.ontology.senses.senses_file import senses_toml as senses_toml
from kanopy.ontology.similarity.information_content import information_content as information_content
from kanopy.ontology.similarity.marginality import Marginality as Marginality
from kanopy.ontology.similarity.marginality import marginality as marginality
from kanopy.ontology.similarity.measures import MEASURES as MEASURES
from kanopy.ontology.similarity.measures import Measure as Measure
from kanopy.ontology.similarity.measures import similarities as similarities
from kanopy.ontology.similarity.pairwise import nearest_concepts as nearest_concepts
from kanopy.ontology.similarity.pairwise import similarity_blocks as similarity_blocks
from kanopy.ontology.similarity.pairwise import similarity_matrix as similarity_matrix
from kanopy.ontology.similarity.words import WordPair as WordPair
from kanopy.ontology.similarity.words import word_matrix as word_matrix
from kanopy.ontology.similarity.words import word_similarities as word_similarities
from kanopy.ontology.similarity.words import word_similarity as word_similarity
from kanopy.ontology.taxonomy import Taxonomy as Taxonomy
