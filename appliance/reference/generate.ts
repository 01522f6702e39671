import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { renderReference } from './reference.ts'

// Writes the reference pages in docs/ref. Part of `make generate`.

const ROOT = resolve(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'docs/ref')

mkdirSync(FOLDER, { recursive: true })
for (const [file, text] of Object.entries(await renderReference(ROOT))) {
  writeFileSync(join(FOLDER, file), text)
}
