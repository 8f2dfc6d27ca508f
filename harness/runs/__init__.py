"""Many evaluations: runner, crew, store, report.

Of a data set of more than 2,500 instances, instances and tasks are on the disk (``sequences.py``), and one is read
when its turn comes; a run keeps ids, predictions and verdicts in memory. Such a run appends its evaluations to
archives (``archives.py``), since making six files and two folders costs more than the rest of an evaluation on the
fake engine.
"""
