// Package telemetry is how the operator sees the process: log lines and
// Prometheus metrics.
//
// Log lines carry the facts that ride in their context (With): a request, a
// rental, a job. They never show an e-mail address, a token, a key or a
// visitor's network address: the handler takes them out by name of the
// attribute and by look of the value, whoever logged them and however deep
// they sit in an error. That is a safety net; callers do not log them in the
// first place.
//
// Metrics is one struct with a registry of its own, made once and handed to
// those who count. Names and labels are a contract with the operator's
// dashboards. Labels only ever take values from fixed, short lists.
package telemetry
