# gpustats from R, through reticulate: densities, a density of one's own, regressions and emulation, beside what R has.
#
# Part by part, the numbers are those of R's own functions, which `stopifnot` checks:
#   1. densities, distribution functions and quantiles; a density in C that R lacks, with draws and a fit;
#   2. a logistic regression of many rows, by a formula and a data frame, beside glm();
#   3. a mixed model of a data frame's groups, whose table is that of lme4;
#   4. an emulator of thousands of runs by local Gaussian processes, as the package laGP makes them.
#
#   pip install 'gpustats[cpu,formula]'             # in Python
#   install.packages("reticulate")                  # in R; 1.39 or later, for NumPy 2
#   RETICULATE_PYTHON=.venv/bin/python Rscript examples/from_r.R
#   RETICULATE_PYTHON=.venv/bin/python Rscript examples/from_r.R 1000000 20000    # rows of the regression, runs of the emulator

library(reticulate)
gs <- import("gpustats")

sizes <- as.integer(commandArgs(trailingOnly = TRUE))
n_rows <- if (length(sizes) > 0) sizes[1] else 100000L
n_runs <- if (length(sizes) > 1) sizes[2] else 5000L
set.seed(1)
# Frames of pandas 3 stay what they are in older versions of reticulate.
as_frame <- function(f) if (is.data.frame(f)) f else data.frame(f$to_dict("list"), row.names = f$index$tolist())
seconds <- function(work) system.time(work)[["elapsed"]]

# ---- 1. densities

x <- rgamma(10000, shape = 2.5, rate = 1.5)
stopifnot(
  all.equal(c(gs$gamma$logpdf(x, 2.5, 1.5)), dgamma(x, 2.5, 1.5, log = TRUE)),
  all.equal(c(gs$negative_binomial$cdf(0:20, mu = 3, alpha = 1.5)), pnbinom(0:20, mu = 3, size = 1.5)),
  all.equal(c(gs$student_t$ppf(c(0.025, 0.5, 0.975), 4, 0, 1)), qt(c(0.025, 0.5, 0.975), 4)),
  all.equal(gs$geometric$pmf(0:9 + 1, 0.3), array(dgeom(0:9, 0.3)))     # R counts the failures, gpustats the trials
)
fit <- gs$gamma$fit(x)
cat("gamma:", sprintf("%s = %.2f ± %.2f", fit$labels, fit$estimates, fit$errors), "\n")

lomax <- gs$register("
// lomax: Pareto distribution that starts at zero
// x: nonnegative    alpha: positive, shape    lambda: positive, scale
__device__ real lomax_logpdf(real x, real alpha, real lambda)
{
    return log(alpha / lambda) - (alpha + 1) * log1p(x / lambda);
}
__device__ real lomax_sf(real x, real alpha, real lambda)
{
    return pow(1 + x / lambda, -alpha);
}
", replace = TRUE)
claims <- lomax$rvs(3, 2, size = 20000L, rng = 1L)
fit <- lomax$fit(claims)
stopifnot(all.equal(fit$log_likelihood, with(fit$parameters, sum(log(alpha / lambda) - (alpha + 1) * log1p(claims / lambda)))))
cat("lomax:", sprintf("%s = %.2f ± %.2f", fit$labels, fit$estimates, fit$errors), "\n")

# ---- 2. a regression

people <- data.frame(age = runif(n_rows, 20, 80), dose = rexp(n_rows), site = factor(sample(c("A", "B", "C"), n_rows, TRUE)))
people$ill <- rbinom(n_rows, 1, plogis(-3 + 0.04 * people$age - 0.5 * people$dose + c(0, 0.3, -0.2)[people$site]))
formula <- "ill ~ age + dose + site"
ours <- seconds(fit <- gs$GLM$from_formula(formula, people, gs$bernoulli_logit)$fit())
theirs <- seconds(known <- glm(as.formula(formula), binomial, people))
table <- as_frame(fit$to_frame())
stopifnot(
  all.equal(table[c("Intercept", "age", "dose", "site[T.B]", "site[T.C]"), "estimate"], unname(coef(known)), tolerance = 1e-6),
  all.equal(table["age", "error"], sqrt(vcov(known)["age", "age"]), tolerance = 1e-4),
  all.equal(fit$log_likelihood, c(logLik(known)), tolerance = 1e-9)
)
print(round(table[, c("estimate", "error", "lower", "upper")], 3))
cat(sprintf("%d rows: %.2f s; glm() %.2f s\n", n_rows, ours, theirs))

# ---- 3. a mixed model

fit <- gs$GLM$from_formula("weight ~ Time + (1 + Time | Chick)", ChickWeight, gs$normal)$fit()
cat(fit$summary(), "\n")
effects <- as_frame(fit$random_effects_to_frame())
stopifnot(nrow(effects) == nlevels(ChickWeight$Chick))
if (requireNamespace("lme4", quietly = TRUE)) {
  known <- lme4::lmer(weight ~ Time + (1 + Time | Chick), ChickWeight)
  stopifnot(all.equal(fit$log_likelihood, c(logLik(known)), tolerance = 1e-6),
            all.equal(as_frame(fit$to_frame())[c("Intercept", "Time"), "estimate"], unname(lme4::fixef(known)), tolerance = 1e-4))
}

# ---- 4. an emulator

surface <- function(p) p[, 1] * exp(-rowSums(p^2))
X <- matrix(runif(2 * n_runs, -2, 2), ncol = 2)
new <- matrix(runif(400, -1.5, 1.5), ncol = 2)
ours <- seconds(found <- gs$LocalGP(X, surface(X))$predict(new, start = 6L, end = 30L, noise = TRUE))
cat(sprintf("emulator of %d runs: error %.1e at 200 points, in %.2f s\n", n_runs, sqrt(mean((found$mean - surface(new))^2)), ours))
bounds <- found$interval(0.95)
stopifnot(mean((found$mean - surface(new))^2) < 1e-4, all(bounds[[1]] < bounds[[2]]))
