# The bridge: tables go over as lists of values and come back the same way, so that figures lose no digit.

library_of <- function() {
  if (!reticulate::py_module_available("kanopy")) {
    stop("Python has no package 'kanopy'. Install it (pip install kanopy) and name that Python in RETICULATE_PYTHON.",
         call. = FALSE)
  }
  reticulate::import("kanopy", convert = FALSE)
}

# What is missing in R is None in Python; factors and labelled columns are their labels; dates are ISO texts.
values_of <- function(column) {
  labels <- attr(column, "labels", exact = TRUE)
  if (!is.null(labels)) {
    named <- names(labels)[match(column, labels)]
    column <- ifelse(is.na(named), as.character(unclass(column)), named)
  }
  if (is.factor(column)) column <- as.character(column)
  if (inherits(column, "Date")) column <- format(column, "%Y-%m-%d")
  if (inherits(column, "POSIXt")) column <- format(column, "%Y-%m-%d %H:%M:%S")
  if (!is.atomic(column)) stop("A column holds values of a kind that tables cannot have.", call. = FALSE)
  missing <- is.na(column)
  values <- as.list(unname(column))
  values[missing] <- list(NULL)
  values
}

table_of <- function(dat) {
  if (!is.data.frame(dat)) stop("Give a data frame.", call. = FALSE)
  reticulate::r_to_py(lapply(as.list(dat), values_of))
}

plain <- function(values) {
  values[vapply(values, is.null, logical(1))] <- list(NA)
  unlist(values, use.names = FALSE)
}

# A published column as R had it: factors stay factors, with the labels that are published and no others.
like_before <- function(values, before) {
  found <- plain(values)
  if (is.factor(before) || !is.null(attr(before, "labels", exact = TRUE))) {
    found <- as.character(found)
    own <- if (is.factor(before)) levels(before) else names(attr(before, "labels", exact = TRUE))
    used <- unique(found[!is.na(found)])
    if (all(used %in% own)) return(factor(found, levels = own[own %in% used], ordered = is.ordered(before)))
    return(factor(found, levels = sort(used)))
  }
  if (inherits(before, "Date") && !anyNA(as.Date(found[!is.na(found)], "%Y-%m-%d", optional = TRUE))) {
    return(as.Date(found))
  }
  found
}

frame_of <- function(result, dat) {
  columns <- reticulate::py_to_r(result)
  if (length(columns) == 0) return(data.frame())
  found <- lapply(names(columns), function(name) like_before(as.list(columns[[name]]), dat[[name]]))
  as.data.frame(stats::setNames(found, names(columns)), check.names = FALSE, stringsAsFactors = FALSE)
}

# Names of columns, however they are given: sdcMicro takes numbers as well.
columns_of <- function(dat, given) {
  if (is.null(given)) return(list())
  if (is.numeric(given)) given <- names(dat)[given]
  unknown <- setdiff(given, names(dat))
  if (length(unknown)) stop("There is no column ", paste(utils::head(unknown, 5), collapse = ", "), ".", call. = FALSE)
  as.list(given)
}

# Errors of Kanopy in its own words, without the trace of Python.
told <- function(expression) {
  tryCatch(expression, error = function(problem) {
    stop(sub("^[A-Za-z_.]*(Error|NoSolution|Dependency): ?", "", strsplit(conditionMessage(problem), "\n\n|\nRun `")[[1]][1]), call. = FALSE)
  })
}
