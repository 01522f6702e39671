/** Where a database is: a URL, or a socket whose other end knows who asks. */
export type ConnectionTarget = string | { path: string; user: string; database: string }
