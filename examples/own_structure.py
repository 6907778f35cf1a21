"""Ordinal regression as a structure of one's own: grades 0 < 1 < 2 < 3 < 4, and a miss by two grades costs two."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

from maxmargin.solvers import BlockFrankWolfe


class Grades:
    """Grade y of a sample x scores y <u, x> - (b_1 + ... + b_y); w holds the direction u, then the thresholds b."""

    def __init__(self, X, y, n_grades):
        self.X, self.y, self.n_grades = X, y, n_grades
        self.n_samples, self.n_features = len(X), X.shape[1] + n_grades - 1

    def joint_feature(self, i, y):
        passed = np.arange(1, self.n_grades) <= y
        return np.concatenate([y * self.X[i], -1.0 * passed])

    def loss(self, i, y):
        return abs(y - self.y[i])

    def max_oracle(self, w, i):
        return max(range(self.n_grades), key=lambda y: self.loss(i, y) + w @ self.joint_feature(i, y))

    def predict(self, w):
        scores = [[w @ self.joint_feature(i, y) for y in range(self.n_grades)] for i in range(self.n_samples)]
        return np.argmax(scores, axis=1)


X, progression = load_diabetes(return_X_y=True)
X, y = scale(X), np.searchsorted(np.quantile(progression, [0.2, 0.4, 0.6, 0.8]), progression)
train, test = Grades(X[:300], y[:300], 5), Grades(X[300:], y[300:], 5)
result = BlockFrankWolfe().solve(train, lam=0.01, tol=1e-2, random_state=0)
error, guess = np.abs(test.predict(result.w) - test.y).mean(), np.abs(2 - test.y).mean()
print(f"mean error in grades: {error:.2f}, always guessing the middle: {guess:.2f}")
print(f"the optimum lies between {result.dual:.3f} and {result.primal:.3f} ({result.status})")
