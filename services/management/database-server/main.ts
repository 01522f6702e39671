import { runDatabaseServer } from './run-database-server.ts'

// The process that runs the embedded database server, as a user of its own. The
// supervisor starts it.
await runDatabaseServer(process.env)
