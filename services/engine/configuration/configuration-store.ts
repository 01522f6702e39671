import { randomBytes } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import { emptyState, type State, state } from './configuration-state.ts'

/** The configuration on disk: read once at start, replaced atomically by every edit. */
export interface Store {
  /** Throws an Error naming the file if what is there cannot be trusted; an absent file is an empty configuration. */
  read(): Promise<State>
  write(state: State): Promise<void>
}

export function createStore(folder: string): Store {
  const file = join(folder, 'configuration.json')
  return {
    read: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      try {
        return parseAs(state, JSON.parse(await readFile(file, 'utf8')))
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
          return emptyState(randomBytes(16).toString('hex'))
        const { message } = cause as Error
        throw new Error(
          `the configuration in ${file} is damaged (${message}): restore it from a copy, or move it away to begin with an empty one`,
          { cause },
        )
      }
    },
    write: next => writeDurably(file, `${JSON.stringify(next, null, 2)}\n`),
  }
}
