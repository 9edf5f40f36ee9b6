// Package session knows who a browser is: the persons it was, the account it
// is signed in to, the admin it is signed in as, and messages for its next
// page.
//
// Sessions live in PostgreSQL under the hash of the cookie's token, so every
// process knows them and who reads the database cannot use them. The token is
// replaced at each sign-in; a session ends after 14 days without a visit, or 30
// days after it began or its token was last replaced, by the database's clock.
//
// What it promises:
//   - A visitor about whom nothing is to be kept gets no row and no cookie, and
//     without a cookie the database is not asked.
//   - A request that changes nothing writes nothing, except that once an hour
//     a visit is noted.
//   - When the database is away the request is refused (Unavailable); nobody
//     is taken for somebody new, and no page goes out whose changes were not
//     kept.
//   - Two requests at once both keep the persons they add. A session that was
//     ended or renewed meanwhile is not revived by a slower request: that one
//     is refused (Conflict) and can be repeated.
//   - An admin who was disabled is nobody from the next request on.
//
// Live streams, pictures and assets stay outside its middleware.
package session
