#' Make a release of a data frame
#'
#' `keyVars` are the quasi-identifiers, `sensibleVar` the sensitive columns, `excludeVars` the identifiers, as in
#' sdcMicro's `createSdcObj`. All other columns are left out. `...` are further arguments of Python's `kanopy.Job`.
protect <- function(dat, keyVars, sensibleVar = NULL, excludeVars = NULL, k = 5, suppress = 0, models = NULL,
                    hierarchies = NULL, ...) {
  kanopy <- library_of()
  told({
    given <- list(quasi = columns_of(dat, keyVars), sensitive = columns_of(dat, sensibleVar),
                  identifiers = columns_of(dat, excludeVars), k = as.integer(k), suppress = suppress)
    if (!is.null(models)) given$models <- as.list(models)
    if (!is.null(hierarchies)) given$hierarchies <- hierarchies
    job <- do.call(kanopy$Job, c(given, list(...)))
    result <- kanopy$anonymize(table_of(dat), job)
    structure(list(data = frame_of(result$data, dat), figures = reticulate::py_to_r(result$summary()), job = job,
                   result = result), class = "kanopy_release")
  })
}

#' k-anonymity, as in sdcMicro: the release that loses least, or single cells suppressed
kAnon <- function(dat, keyVars, k = 3, ...) protect(dat, keyVars, k = k, ...)

localSuppression <- function(dat, keyVars, k = 2, ...) protect(dat, keyVars, k = k, algorithm = "cell-level", ...)

#' The published data frame
extractManipData <- function(release) release$data

as.data.frame.kanopy_release <- function(x, ...) x$data

print.kanopy_release <- function(x, ...) {
  figures <- x$figures
  cat(sprintf("A release of %d rows: the smallest class has %d, %d rows are suppressed, loss %.4f (%s).\n",
              figures$rows, figures$smallest_class, figures$suppressed, figures$losses$loss,
              if (isTRUE(figures$optimal)) "proved optimal" else "not proved optimal"))
  for (note in figures$notes) cat("Note:", note, "\n")
  invisible(x)
}
