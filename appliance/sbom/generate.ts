import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createSbom } from './sbom.ts'

// Writes eyrie.cdx.json, the software bill of materials of this installation. Called by
// `make sbom`.

const ROOT = resolve(import.meta.dirname, '../..')
const FILE = 'eyrie.cdx.json'

const sbom = createSbom(ROOT)
writeFileSync(join(ROOT, FILE), `${JSON.stringify(sbom, null, 2)}\n`)
console.log(`${FILE} lists ${sbom.components.length} components`)
