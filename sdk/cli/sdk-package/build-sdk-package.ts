import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { SDK_VERSION } from '@eyrie/contract/sdk-version'
import { findCompiler } from './find-compiler.ts'

/**
 * Builds the element SDK as an npm package that works outside this repository: JavaScript and
 * types, the schemas of the contract that it uses, and no dependency but zod.
 */

const ROOT = resolve(import.meta.dirname, '../../..')
const CONTRACT = '@eyrie/contract/'
/** Name of the packed package, as npm would name it. */
export const SDK_ARCHIVE_NAME = `eyrie-element-${SDK_VERSION}.tgz`

/** The modules that the package exports, by name. */
const EXPORTS = {
  '.': 'index',
  './generate': 'generate',
  './testing': 'testing/test-kit',
  './tracking': 'tracking',
}

/** Options of the compiler. Modules are resolved as Node does. */
const COMPILER_OPTIONS = {
  target: 'ES2024',
  lib: ['ES2024'],
  module: 'NodeNext',
  types: ['node'],
  strict: true,
  verbatimModuleSyntax: true,
  declaration: true,
  rootDir: 'src',
  outDir: 'dist',
}
/**
 * The path in an import of the contract or of another file. Groups: its beginning, the rest of it.
 */
const IMPORTED_PATH = /(?<=\bfrom '|\bimport ')(@eyrie\/contract\/|\.\.?\/)([^']+)(?=')/g

/**
 * Builds the package in the folder `target`, which must not exist. Rejects if the
 * compiler is not installed.
 */
export async function buildSdkPackage(target: string): Promise<void> {
  const staging = await mkdtemp(join(tmpdir(), 'eyrie-sdk-'))
  try {
    await copyModules(join(staging, 'src'))
    await symlink(join(ROOT, 'node_modules'), join(staging, 'node_modules'))
    await writeJson(join(staging, 'package.json'), { type: 'module' })
    await writeJson(join(staging, 'tsconfig.json'), {
      compilerOptions: COMPILER_OPTIONS,
      include: ['src'],
    })
    await compile(staging)

    await mkdir(target, { recursive: true })
    await cp(join(staging, 'dist'), join(target, 'dist'), { recursive: true })
    await cp(join(ROOT, 'LICENSE'), join(target, 'LICENSE'))
    await writeFile(join(target, 'README.md'), await readReadme())
    await writeJson(join(target, 'package.json'), await describePackage())
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/**
 * Copies the exported modules and all modules that they import. Replaces the imports by relative
 * ones of JavaScript files.
 */
async function copyModules(folder: string): Promise<void> {
  const pending = Object.values(EXPORTS).map(name => `sdk/element/${name}.ts`)
  const copied = new Set<string>()
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (copied.has(path)) continue
    copied.add(path)
    const source = path
    const code = await readFile(join(ROOT, source), 'utf8')
    const rewritten = code.replace(IMPORTED_PATH, (_, start, rest) => {
      const imported =
        start === CONTRACT ? join('sdk/contract', `${rest}.ts`) : join(dirname(source), start, rest)
      pending.push(imported)
      return toSpecifier(toPackagePath(source), toPackagePath(imported))
    })
    const file = join(folder, toPackagePath(source))
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, rewritten)
  }
}

/** The SDK is at the top level of the package, the contract in a folder of it. */
const toPackagePath = (path: string) =>
  path.startsWith('sdk/element/') ? relative('sdk/element', path) : relative('sdk', path)

function toSpecifier(importer: string, imported: string): string {
  const path = relative(dirname(importer), imported).replace(/\.ts$/, '.js')
  return path.startsWith('.') ? path : `./${path}`
}

async function compile(folder: string): Promise<void> {
  const compiler = findCompiler()
  try {
    await promisify(execFile)(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
  } catch (cause) {
    const { stdout } = cause as { stdout?: string }
    throw new Error(
      `failed to compile the element SDK: ${stdout?.trim() || (cause as Error).message}`,
      {
        cause,
      },
    )
  }
}

/** The README without links to files outside the package. */
async function readReadme(): Promise<string> {
  const text = await readFile(join(ROOT, 'sdk/element/README.md'), 'utf8')
  return text.replace(/\[([^\]]+)\]\(\.\.\/[^)]*\)/g, '$1')
}

async function describePackage(): Promise<object> {
  const project = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const exported = Object.entries(EXPORTS).map(([path, name]) => [
    path,
    { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
  ])
  return {
    name: '@eyrie/element',
    version: SDK_VERSION,
    description: 'SDK for elements of Eyrie, the steps of its video-analytics pipelines',
    license: project.license,
    type: 'module',
    engines: project.engines,
    exports: { ...Object.fromEntries(exported), './package.json': './package.json' },
    bin: { 'eyrie-generate': './dist/generate.js' },
    files: ['dist'],
    dependencies: { zod: `^${project.dependencies.zod}` },
  }
}

const writeJson = (file: string, value: object) =>
  writeFile(file, `${JSON.stringify(value, null, 2)}\n`)
