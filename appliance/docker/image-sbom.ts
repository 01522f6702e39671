import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createImageSbom } from '../sbom/sbom.ts'

// Writes the software bill of materials of the image in which it runs: all its Debian packages, and
// the npm packages in it.

const ROOT = resolve(import.meta.dirname, '../..')
writeFileSync(
  '/opt/eyrie/eyrie.cdx.json',
  `${JSON.stringify(createImageSbom(ROOT, '/opt/eyrie'), null, 2)}\n`,
)
