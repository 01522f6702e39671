import { readFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'

/** A place in the code of a plugin, with the lines around it. */
export interface SourceExcerpt {
  file: string
  line: number
  lines: { number: number; text: string }[]
}

const LINES_AROUND = 2

/**
 * Finds the place in a reason such as `crowd: limit is not defined (element.ts:12:5)`. Returns
 * undefined if it names none.
 */
export async function findExcerpt(
  folder: string,
  reason: string,
): Promise<SourceExcerpt | undefined> {
  const [, file, digits] = /\(([^()\s]+):(\d+):\d+\)/.exec(reason) ?? []
  if (file === undefined) return undefined
  const path = resolve(folder, file)
  // The reason is text of the plugin.
  if (relative(folder, path).startsWith('..')) return undefined
  const code = await readFile(path, 'utf8').catch(() => undefined)
  if (code === undefined) return undefined

  const line = Number(digits)
  const first = Math.max(line - LINES_AROUND, 1)
  const texts = code.split('\n').slice(first - 1, line + LINES_AROUND)
  return { file, line, lines: texts.map((text, index) => ({ number: first + index, text })) }
}
