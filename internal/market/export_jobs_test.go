package market

import (
	"github.com/jackc/pgx/v5"

	"tuval/internal/rental"
)

// JobQuery is what JobsOf asks the database.
type JobQuery struct {
	SQL  string
	Args pgx.NamedArgs
}

// JobQueries are the queries of JobsOf for the tests of their plans.
func JobQueries(id rental.ID, wanted []string) map[string]JobQuery {
	return map[string]JobQuery{"jobs": {sqlJobFacts, jobFactArgs(wanted)}, "mails": {sqlMailFacts, mailFactArgs(id)}}
}
