people <- data.frame(
  name = paste0("p", 1:12),
  age = c(31, 34, 45, 47, 52, 58, 31, 34, 45, 47, 52, 58),
  sex = factor(rep(c("f", "m"), 6), levels = c("m", "f", "x")),
  ill = rep(c("a", "b", "c"), 4),
  stringsAsFactors = FALSE
)

test_that("a release has the rows in their order, factors with published labels, and no identifiers", {
  release <- protect(people, c("age", "sex"), "ill", excludeVars = "name", k = 2)
  expect_equal(names(release$data), c("age", "sex", "ill"))
  expect_equal(release$data$ill, people$ill)
  expect_true(is.factor(release$data$sex))
  expect_false("x" %in% levels(release$data$sex))
  expect_gte(check(release$data, c("age", "sex"))$smallest_class, 2)
  expect_equal(release$figures$k, 2)
  expect_output(print(release), "A release of 12 rows")
})

test_that("single cells are suppressed as by localSuppression", {
  found <- localSuppression(people, c("age", "sex"), k = 2)
  expect_gte(check(extractManipData(found), c("age", "sex"))$smallest_class, 2)
})

test_that("missing values, dates and labels survive the way there and back", {
  dat <- data.frame(age = c(1, 1, 1, 1), born = as.Date("2000-01-01"), x = c(TRUE, FALSE, NA, TRUE))
  dat$code <- structure(c(1, 2, 1, 2), labels = c(yes = 1, no = 2))
  release <- protect(dat, "age", c("born", "x", "code"), k = 2)
  expect_s3_class(release$data$born, "Date")
  expect_equal(release$data$x, dat$x)
  expect_equal(as.character(release$data$code), c("yes", "no", "yes", "no"))
})

test_that("errors are in the words of Kanopy", {
  expect_error(protect(people, "nothing"), "no column nothing")
  expect_error(protect(people, "age", k = 0), "at least")
  expect_error(protect(people, c("age", "sex"), k = 50), "12")
})

test_that("the smallest number of different sensitive values is that of check", {
  expect_equal(ldiversity(people, "sex", "ill"), list(ill = 3L))
})
