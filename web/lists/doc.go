// Package lists reads what the admin's tables show and no aggregate lists by
// itself. It only reads.
package lists
