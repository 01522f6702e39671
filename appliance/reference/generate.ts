import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { renderReference } from './reference.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = join(root, 'docs/ref')
mkdirSync(folder, { recursive: true })
for (const [file, text] of Object.entries(await renderReference(root)))
  writeFileSync(join(folder, file), text)
