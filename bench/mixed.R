# Time and results of lme4 for a model of `bench.mixed`, from a folder of binary columns: Rscript mixed.R FOLDER N COLUMNS KIND.
suppressMessages(library(lme4))
given <- commandArgs(trailingOnly = TRUE)
n <- as.integer(given[2])
read <- function(name, what = "double", size = 8) readBin(file.path(given[1], name), what, n, size)
data <- data.frame(y = read("y"), g = factor(read("g", "integer", 4)))
names <- paste0("x", seq_len(as.integer(given[3])) - 1)
for (name in names) data[[name]] <- read(name)
fixed <- paste("y ~", paste(names, collapse = " + "))
two <- given[4] %in% c("crossed", "nested", "moving")
if (two) data$h <- factor(read("h", "integer", 4))
random <- if (two) "+ (1 | g) + (1 | h)" else c(slopes = "+ (x0 | g)", logistic = "+ (1 | g)")[given[4]]
formula <- as.formula(paste(fixed, random))
control <- list(lmerControl(calc.derivs = FALSE), glmerControl(calc.derivs = TRUE))
seconds <- system.time(m <- if (given[4] == "logistic") glmer(formula, data, binomial, control = control[[2]]) else
    lmer(formula, data, control = control[[1]]))["elapsed"]
cat(sprintf("%.17g\n", c(seconds, logLik(m), fixef(m))))
