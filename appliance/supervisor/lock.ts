import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Claims a data folder for this process. Throws if another supervisor that is alive holds it; returns the release. */
export function claim(data: string): () => void {
  mkdirSync(data, { recursive: true, mode: 0o750 })
  const file = join(data, 'supervisor.pid')
  const holder = alive(file)
  if (holder)
    throw new Error(
      `Eyrie is already running on ${data} (process ${holder}): stop it, or set EYRIE_DATA to another folder`,
    )
  writeFileSync(file, `${process.pid}\n`)
  return () => rmSync(file, { force: true })
}

/** The process that a pid file names, if it still runs and is a supervisor: numbers are given anew. */
function alive(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return commandLine.includes('supervisor') && pid !== process.pid ? pid : undefined
  } catch {
    return undefined
  }
}
