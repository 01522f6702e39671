import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { renderNotices } from './notices.ts'

// Writes THIRD-PARTY-NOTICES.md, the licences of the npm packages that Eyrie ships.
// Part of `make generate`.

const ROOT = resolve(import.meta.dirname, '../..')
writeFileSync(join(ROOT, 'THIRD-PARTY-NOTICES.md'), renderNotices(ROOT))
