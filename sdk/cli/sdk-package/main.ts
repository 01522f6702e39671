import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packFolder } from '../plugin/plugin-archive.ts'
import { buildSdkPackage, SDK_ARCHIVE_NAME } from './build-sdk-package.ts'

// Writes the npm package of the element SDK into the folder of the first argument.

const [folder = '.'] = process.argv.slice(2)
const draft = await mkdtemp(join(tmpdir(), 'eyrie-sdk-'))
try {
  const built = join(draft, 'package')
  await buildSdkPackage(built)
  await mkdir(folder, { recursive: true })
  const file = join(folder, SDK_ARCHIVE_NAME)
  await writeFile(file, await packFolder(built))
  console.log(`wrote ${file}`)
} finally {
  await rm(draft, { recursive: true, force: true })
}
