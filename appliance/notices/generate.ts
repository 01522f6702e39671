import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { renderNotices } from './notices.ts'

const root = resolve(import.meta.dirname, '../..')
writeFileSync(join(root, 'THIRD-PARTY-NOTICES.md'), renderNotices(root))
