# Deviances of lme4's glmer with nAGQ = 1, Laplace's method, at given parameters: what test_glmer.py compares with.
library(lme4)
options(digits = 15)
tight <- glmerControl(tolPwrss = 1e-13)

herds <- glmer(cbind(incidence, size - incidence) ~ period + (1 | herd), cbpp, binomial, control = tight, devFunOnly = TRUE)
cat("cbpp", herds(c(0.6, -1.4, -1, -1.1, -1.6)), herds(c(0, -1.4, -1, -1.1, -1.6)), "\n")

i <- 0:119
data <- data.frame(g = i %% 7, h = (i %/% 3) %% 5, x = cos(i), y = floor(3 * abs(sin(1.7 * i)) + 2 * (i %% 7 == 2)))
crossed <- glmer(y ~ x + (1 + x | g) + (1 | h), data, poisson, control = tight, devFunOnly = TRUE)
cat("crossed", crossed(c(0.5, -0.2, 0.3, 0.4, 0.2, 0.1)), crossed(c(0.3, 0, 0, 0.2, 0.5, -0.1)), "\n")
fit <- glmer(y ~ x + (1 | g), data, poisson, control = tight)
cat("fit", getME(fit, "theta"), fixef(fit), logLik(fit), sqrt(diag(vcov(fit))), "\n")
cat("modes", ranef(fit)$g[[1]], "\n")
cat("spread", sqrt(c(attr(ranef(fit, condVar = TRUE)$g, "postVar"))), "\n")
