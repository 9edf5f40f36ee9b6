package session

import (
	"encoding/json"
	"fmt"
	"time"
)

// record is what a session holds, between scs's map and the table's columns.
type record struct {
	Persons []int64 `json:"persons,omitempty"`
	Account int64   `json:"account,omitempty"`
	Admin   int64   `json:"admin,omitempty"`
	Flash   []Flash `json:"flash,omitempty"`
}

// codec carries a record through scs. The deadline is not kept: when a session
// ends is computed by the database.
type codec struct{}

func (codec) Encode(_ time.Time, values map[string]any) ([]byte, error) {
	var r record
	r.Persons, _ = values[personsKey].([]int64)
	r.Account, _ = values[accountKey].(int64)
	r.Admin, _ = values[adminKey].(int64)
	r.Flash, _ = values[flashKey].([]Flash)
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("session: encode: %w", err)
	}
	return b, nil
}

func (codec) Decode(b []byte) (time.Time, map[string]any, error) {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return time.Time{}, nil, fmt.Errorf("session: decode: %w", err)
	}
	values := map[string]any{}
	if len(r.Persons) > 0 {
		values[personsKey] = r.Persons
	}
	if r.Account != 0 {
		values[accountKey] = r.Account
	}
	if r.Admin != 0 {
		values[adminKey] = r.Admin
	}
	if len(r.Flash) > 0 {
		values[flashKey] = r.Flash
	}
	return time.Time{}, values, nil
}
