"""Search: spaces of named parameters, searchers with an ask/tell interface, evaluation on one machine or many."""

from nutmeg.search.cluster import OnCluster
from nutmeg.search.evaluation import Evaluation, Evaluator, InThisThread, OneByOne, Share, Threads
from nutmeg.search.least_squares import LeastSquares, LeastSquaresSettings
from nutmeg.search.processes import Processes
from nutmeg.search.response_fit import ResponseFit, ResponseFitSettings
from nutmeg.search.run import Budget, SearchResult, SearchSettings, minimise
from nutmeg.search.searchers import (
    Best,
    CmaEs,
    CmaEsSettings,
    EvolutionStrategy,
    EvolutionStrategySettings,
    Genetic,
    GeneticSettings,
    Searcher,
)
from nutmeg.search.space import Dimension, Space

__all__ = [
    "Best",
    "Budget",
    "CmaEs",
    "CmaEsSettings",
    "Dimension",
    "Evaluation",
    "Evaluator",
    "EvolutionStrategy",
    "EvolutionStrategySettings",
    "Genetic",
    "GeneticSettings",
    "InThisThread",
    "LeastSquares",
    "LeastSquaresSettings",
    "OnCluster",
    "OneByOne",
    "Processes",
    "ResponseFit",
    "ResponseFitSettings",
    "SearchResult",
    "SearchSettings",
    "Searcher",
    "Share",
    "Space",
    "Threads",
    "minimise",
]
