import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

// Runs obtain.sh in the session and process group that startProcess created for this process. The whole group ends with the
// supervisor. A build continues at the next start.

const script = resolve(import.meta.dirname, 'obtain.sh')
const child = spawn(script, ['--background', ...process.argv.slice(2)], { stdio: 'ignore' })
// Ninja runs compilers in process groups of their own, and ends them itself.
const stop = () => process.kill(-process.pid, 'SIGTERM')
process.once('disconnect', stop)
process.once('SIGTERM', stop)
child.once('exit', () => process.exit())
