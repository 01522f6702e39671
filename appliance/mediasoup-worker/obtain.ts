import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

/**
 * Runs obtain.sh, with these arguments, for as long as whoever has launched this is there: it ends with its whole process
 * group, of which it is the leader. What has been built by then is kept for the next time.
 */
const script = resolve(import.meta.dirname, 'obtain.sh')
const child = spawn('nice', ['-n', '19', script, ...process.argv.slice(2)], { stdio: 'ignore' })
// Ninja keeps its compilers in groups of their own, and ends them itself.
const stop = () => process.kill(-process.pid, 'SIGTERM')
process.once('disconnect', stop)
process.once('SIGTERM', stop)
child.once('exit', () => process.exit())
