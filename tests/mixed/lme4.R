# Writes data sets of lme4 and its fits of them: Rscript tests/mixed/lme4.R, with lme4 1.1-31.
# Sources: Belenky et al. (2003), J. Sleep Res. 12, 1 (sleepstudy); Davies and Goldsmith (1972), Statistical Methods in Research and
# Production (Penicillin, Pastes, Dyestuff); Box and Tiao (1973), Bayesian Inference in Statistical Analysis (Dyestuff2); Lesnoff et
# al. (2004), Prev. Vet. Med. 64, 31 (cbpp); Elston et al. (2001), Parasitology 122, 563 (grouseticks).
suppressMessages(library(lme4))
folder <- file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "data")
for (name in c("sleepstudy", "Penicillin", "Pastes", "Dyestuff", "Dyestuff2", "cbpp", "grouseticks")) {
    write.csv(get(name), file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
}
rows <- list()
note <- function(fit, quantity, values) {
    values <- head(as.numeric(values), 12)
    rows[[length(rows) + 1]] <<- data.frame(
        fit = fit, quantity = quantity, index = seq_along(values) - 1, value = sprintf("%.12g", values)
    )
}
fine <- lmerControl(optimizer = "nloptwrap", optCtrl = list(xtol_abs = 1e-10, ftol_abs = 1e-11), check.conv.singular = "ignore")
noted <- function(name, m) {
    note(name, "fixed", fixef(m))
    note(name, "fixed_errors", sqrt(diag(as.matrix(vcov(m)))))
    note(name, "theta", getME(m, "theta"))
    note(name, "sigma", sigma(m))
    note(name, "loglik", logLik(m))
    note(name, "aic", AIC(m))
    note(name, "bic", BIC(m))
    modes <- ranef(m, condVar = TRUE)
    for (group in names(modes)) {
        note(name, paste0("modes.", group), t(as.matrix(modes[[group]])))
        spread <- attr(modes[[group]], "postVar")
        if (!is.list(spread)) note(name, paste0("errors.", group), sqrt(apply(spread, 3, diag)))
    }
}
fits <- list(
    sleepstudy = list(Reaction ~ Days + (Days | Subject), sleepstudy),
    apart = list(Reaction ~ Days + (Days || Subject), sleepstudy),
    penicillin = list(diameter ~ 1 + (1 | plate) + (1 | sample), Penicillin),
    pastes = list(strength ~ 1 + (1 | batch) + (1 | sample), Pastes),
    dyestuff = list(Yield ~ 1 + (1 | Batch), Dyestuff),
    dyestuff2 = list(Yield ~ 1 + (1 | Batch), Dyestuff2),
    origin = list(Reaction ~ 0 + Days + (1 | Subject), sleepstudy)
)
for (name in names(fits)) {
    for (reml in c(TRUE, FALSE)) {
        m <- lmer(fits[[name]][[1]], fits[[name]][[2]], REML = reml, control = fine)
        noted(paste0(name, if (reml) ".reml" else ".ml"), m)
    }
}
twice <- sleepstudy[rep(seq_len(nrow(sleepstudy)), 1 + seq_len(nrow(sleepstudy)) %% 3), ]
noted("weighted.reml", lmer(Reaction ~ Days + (Days | Subject), twice, control = fine))
ml <- lmer(Reaction ~ Days + (Days | Subject), sleepstudy, REML = FALSE, control = fine)
note("profile", "interval", t(confint(profile(ml, devtol = 1e-6), parm = c(".sig01", ".sigma", "(Intercept)", "Days"))))
smaller <- lmer(Reaction ~ Days + (1 | Subject), sleepstudy, REML = FALSE, control = fine)
test <- anova(ml, smaller)
note("ratio", "statistic", c(test$Chisq[2], test$Df[2], test$`Pr(>Chisq)`[2]))
new <- data.frame(Days = c(0, 4.5, 12), Subject = c("308", "335", "372"))
reml <- lmer(Reaction ~ Days + (Days | Subject), sleepstudy, control = fine)
note("predict", "known", predict(reml, new))
note("predict", "without", predict(reml, new, re.form = NA))
counts <- glmerControl(optimizer = "nloptwrap", optCtrl = list(xtol_abs = 1e-9, ftol_abs = 1e-10), tolPwrss = 1e-13)
noted("cbpp", glmer(cbind(incidence, size - incidence) ~ period + (1 | herd), cbpp, binomial, control = counts))
grouseticks$height <- (grouseticks$HEIGHT - mean(grouseticks$HEIGHT)) / 100
noted("grouseticks", glmer(
    TICKS ~ YEAR + height + (1 | BROOD) + (1 | INDEX) + (1 | LOCATION), grouseticks, poisson, control = counts
))
set.seed(1)
slopes <- data.frame(g = rep(1:30, each = 15), x = round(rnorm(450), 3))
effects <- matrix(rnorm(60), 30) %*% matrix(c(0.8, 0, 0.3, 0.6), 2)
slopes$y <- rbinom(450, 1, plogis(0.3 + 0.8 * slopes$x + effects[slopes$g, 1] + slopes$x * effects[slopes$g, 2]))
slopes$count <- rpois(450, exp(0.2 + 0.5 * slopes$x + effects[slopes$g, 1]))
write.csv(slopes, file.path(folder, "slopes.csv"), row.names = FALSE, quote = FALSE)
noted("slopes", glmer(y ~ x + (x | g), slopes, binomial, control = counts))
poisson.slopes <- glmer(count ~ x + (x | g), slopes, poisson, control = counts)
noted("slopes.poisson", poisson.slopes)
new <- data.frame(x = c(0.5, -1), g = c(3, 99))
note("slopes.poisson", "new", predict(poisson.slopes, new, allow.new.levels = TRUE))
noted("slopes.constant", glmer(y ~ 1 + (1 | g), slopes, binomial, control = counts))
noted("slopes.origin", glmer(y ~ 0 + x + (1 | g), slopes, binomial, control = counts))
write.csv(do.call(rbind, rows), file.path(folder, "lme4.csv"), row.names = FALSE, quote = FALSE)
