// Package wire serves a catalog of package schema to MySQL's clients: mysql, mariadb, drivers, and
// what is built on them.
//
// It speaks the client/server protocol 4.1, as far as reading needs it: queries, prepared
// statements, mysql_native_password and caching_sha2_password, TLS. packet.go has the framing,
// handshake.go and auth.go a connection's beginning, conn.go its commands, resultset.go rows.
package wire
