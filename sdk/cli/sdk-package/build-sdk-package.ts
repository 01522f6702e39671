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

/** Name of the archive of the package, as npm would name it. */
export const SDK_ARCHIVE_NAME = `eyrie-element-${SDK_VERSION}.tgz`

/** The modules of `sdk/element` that the package exports, by their subpath in an import. */
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
 * The specifier of an import of the contract or of another file, after `from '` or `import '`.
 * Imports of other packages, such as zod, do not match.
 */
const LOCAL_SPECIFIER = /(?<=\bfrom '|\bimport ')(?:@eyrie\/contract|\.\.?)\/[^']+(?=')/g
const CONTRACT = '@eyrie/contract/'

/**
 * Builds the package in the folder `target`, which must not exist. Rejects if the
 * compiler is not installed.
 */
export async function buildSdkPackage(target: string): Promise<void> {
  const staging = await mkdtemp(join(tmpdir(), 'eyrie-sdk-'))
  try {
    await copyModules(join(staging, 'src'))
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
 * Copies the exported modules, and all modules that they import directly or indirectly. Paths of
 * modules are relative to the repository, such as `sdk/element/index.ts`.
 */
async function copyModules(folder: string): Promise<void> {
  const pending = Object.values(EXPORTS).map(name => `sdk/element/${name}.ts`)
  const copied = new Set<string>()
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (copied.has(path)) continue
    copied.add(path)
    pending.push(...(await copyModule(path, folder)))
  }
}

/**
 * Copies a module. Replaces the specifiers of local modules by relative paths of JavaScript files.
 * Returns the paths of the local modules that it imports.
 */
async function copyModule(path: string, folder: string): Promise<string[]> {
  const imports: string[] = []
  const code = await readFile(join(ROOT, path), 'utf8')
  const rewritten = code.replace(LOCAL_SPECIFIER, specifier => {
    const imported = resolveSpecifier(specifier, path)
    imports.push(imported)
    return createSpecifier(toPackagePath(path), toPackagePath(imported))
  })

  const file = join(folder, toPackagePath(path))
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, rewritten)
  return imports
}

/** Returns the path of the module that a specifier in the module `importer` refers to. */
function resolveSpecifier(specifier: string, importer: string): string {
  if (!specifier.startsWith(CONTRACT)) return join(dirname(importer), specifier)
  return join('sdk/contract', `${specifier.slice(CONTRACT.length)}.ts`)
}

/**
 * Returns the path of a module in the package. The SDK is at the top level, and the contract in the
 * folder `contract`.
 */
const toPackagePath = (path: string) =>
  path.startsWith('sdk/element/') ? relative('sdk/element', path) : relative('sdk', path)

/** Returns the specifier with which a compiled module imports another one. */
function createSpecifier(importer: string, imported: string): string {
  const path = relative(dirname(importer), imported).replace(/\.ts$/, '.js')
  return path.startsWith('.') ? path : `./${path}`
}

/** Compiles the modules in the folder `src` of `folder` into its folder `dist`. */
async function compile(folder: string): Promise<void> {
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await writeJson(join(folder, 'package.json'), { type: 'module' })
  const settings = { compilerOptions: COMPILER_OPTIONS, include: ['src'] }
  await writeJson(join(folder, 'tsconfig.json'), settings)

  const compiler = findCompiler()
  try {
    await promisify(execFile)(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
  } catch (cause) {
    // The compiler prints its errors to standard output.
    const { stdout, message } = cause as Error & { stdout?: string }
    throw new Error(`failed to compile the element SDK: ${stdout?.trim() || message}`, { cause })
  }
}

/** Returns the README of the SDK. Links to files outside the package become plain text. */
async function readReadme(): Promise<string> {
  const text = await readFile(join(ROOT, 'sdk/element/README.md'), 'utf8')
  return text.replace(/\[([^\]]+)\]\(\.\.\/[^)]*\)/g, '$1')
}

/** Returns the content of the package.json of the package. */
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
