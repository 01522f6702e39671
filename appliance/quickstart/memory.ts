import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'

/** What an earlier start has set up, so that the next one changes that and nothing that a user has made. */
const memory = z.object({
  source: z.number().optional(),
  pipeline: z.number().optional(),
  sink: z.number().optional(),
  /** The rendered scene is what is analysed. */
  scene: z.boolean(),
  /** Folder of the file that `SOURCE` named, which media may read besides its own. */
  folder: z.string().optional(),
})
export type Memory = z.infer<typeof memory>

const file = (data: string) => join(data, 'quickstart.json')

export function recall(data: string): Memory | undefined {
  try {
    return memory.parse(JSON.parse(readFileSync(file(data), 'utf8')))
  } catch {
    return undefined
  }
}

export function remember(data: string, what: Memory): void {
  mkdirSync(dirname(file(data)), { recursive: true })
  writeFileSync(`${file(data)}.new`, `${JSON.stringify(what, null, 2)}\n`)
  renameSync(`${file(data)}.new`, file(data))
}
