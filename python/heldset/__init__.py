"""Agents, graders and extractors in Python for Heldset."""

from .letta import GradeResult, Sample, agent_factory, extractor, grader, reward_composer, suite_setup

__all__ = ["GradeResult", "Sample", "agent_factory", "extractor", "grader", "reward_composer", "suite_setup"]
