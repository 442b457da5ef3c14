#' The risk of a data frame, with sampling weights and households as in sdcMicro's `measure_risk`
#'
#' `missing = "any"` counts a missing key as sdcMicro does: it may be any category.
risk <- function(dat, keyVars, weightVar = NULL, hhId = NULL, missing = c("any", "value"), ...) {
  missing <- match.arg(missing)
  kanopy <- library_of()
  told({
    given <- list(quasi = columns_of(dat, keyVars), largest_subset = 0L)
    if (!is.null(weightVar)) given$sampling_weight <- columns_of(dat, weightVar)[[1]]
    if (!is.null(hhId)) given$household <- columns_of(dat, hhId)[[1]]
    if (!is.null(weightVar)) given$missing_means <- missing
    found <- do.call(kanopy$assess_risk, c(list(table_of(dat)), given, list(...)))
    figures <- reticulate::py_to_r(found$to_dict())
    structure(list(figures = figures, rows = row_risks_of(found)), class = "kanopy_risk")
  })
}

row_risks_of <- function(found) {
  names <- reticulate::py_to_r(reticulate::import_builtins(convert = FALSE)$list(found$row_risks))
  rows <- lapply(names, function(name) plain(as.list(reticulate::py_to_r(found$row_risks[[name]]$tolist()))))
  as.data.frame(stats::setNames(rows, names))
}

measure_risk <- function(dat, keyVars, ...) risk(dat, keyVars, ...)

#' Rows with the same keys in the sample (`fk`) and, by their weights, in the population (`Fk`)
freqCalc <- function(dat, keyVars, w, ...) {
  rows <- risk(dat, keyVars, weightVar = w, ...)$rows
  list(fk = rows$rows_alike, Fk = rows$people_alike, n1 = sum(rows$rows_alike == 1), n2 = sum(rows$rows_alike == 2))
}

#' How the rows of a data frame group by the key variables, and whether models hold
check <- function(dat, keyVars, sensibleVar = NULL, models = NULL, ...) {
  kanopy <- library_of()
  told({
    given <- list(quasi = columns_of(dat, keyVars))
    if (!is.null(sensibleVar)) given$sensitive <- columns_of(dat, sensibleVar)
    if (!is.null(models)) given$models <- as.list(models)
    reticulate::py_to_r(do.call(kanopy$check, c(list(table_of(dat)), given, list(...)))$to_dict())
  })
}

#' The fewest different values of a sensitive column in a class
ldiversity <- function(dat, keyVars, sensibleVar, ...) {
  lapply(check(dat, keyVars, sensibleVar, ...)$sensitive, function(each) each$distinct)
}

#' Special uniques (SUDA): small sets of keys by which a row is unique
suda2 <- function(dat, keyVars, largest = 3, ...) risk(dat, keyVars, suda = as.integer(largest), ...)

print.kanopy_risk <- function(x, ...) {
  figures <- x$figures
  cat(sprintf("%d rows in %d classes; %d rows are unique.\n", figures$rows, figures$classes, figures$unique_rows))
  if (!is.null(figures$survey)) {
    cat(sprintf("Expected re-identifications: %.2f (%.2f %%).\n", figures$survey$expected_reidentifications,
                100 * figures$survey$share))
  }
  invisible(x)
}
