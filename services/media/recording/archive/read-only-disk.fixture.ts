import { execFileSync } from 'node:child_process'
import { createArchive } from './recording-archive.ts'

// A script that applies retention to recordings on a disk that has become read-only. Prints the
// error as JSON. The arguments are the folder and the time, in µs. It must run in its own mount
// namespace.

const [folder, nowUs] = process.argv.slice(2) as [string, string]
const archive = createArchive({ folder, reserve: { bytes: 0, percent: 0 } })
archive.setPolicy(1, { keep_s: 60 })
execFileSync('mount', ['--bind', folder, folder])
execFileSync('mount', ['-o', 'remount,bind,ro', folder])
const error = await archive.applyRetention(Number(nowUs)).catch((error: Error) => error.message)
process.stdout.write(JSON.stringify(error))
