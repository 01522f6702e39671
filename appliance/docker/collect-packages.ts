import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'

// Copies the npm packages that programs need, and no others, to a folder for an image: node
// collect-packages.ts <folder> <program> ...
//   --without <folder> omits packages that exist in this folder, because a lower layer
//   contains them --exclude <module> omits what only this module needs, because these programs
//   never load it --architecture <name> architecture of the image as Node names it; by default
//   that of this machine

const ROOT = resolve(import.meta.dirname, '../..')
/**
 * Matches imports, and all other strings, because these may name programs that are started as
 * a process or thread.
 */
const REFERENCE =
  /\b(?:import|export)\s+(type\s)?(?:[^'"`;]*?\bfrom\s*)?'([^']+)'|\bimport\(\s*'([^']+)'|'([^'\s]+)'/g
/**
 * Packages for Bare, another JavaScript runtime. Packages that support both runtimes list
 * them as dependencies.
 */
const OTHER_RUNTIME = /^bare-/
/** Files that must accompany the packages. */
const LICENCE = /licen[cs]e|notice|copying/i
const { dependencies = {} } = readManifest(ROOT)

interface Manifest {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** Modules of Eyrie and packages that a program loads. */
export interface ProgramParts {
  modules: Set<string>
  packages: Set<string>
}

/**
 * Finds the modules and packages that programs load. Excluded modules are not followed, and imports
 * of types are ignored.
 */
export function findProgramParts(
  programs: readonly string[],
  excluded: ReadonlySet<string> = new Set(),
): ProgramParts {
  const modules = new Set(programs.map(program => resolve(ROOT, program)))
  const packages = new Set<string>()
  // The iteration includes modules that are added meanwhile.
  for (const module of modules) {
    if (!module.endsWith('.ts') || excluded.has(module)) continue
    for (const [, isType, imported, lazy, literal] of readFileSync(module, 'utf8').matchAll(
      REFERENCE,
    )) {
      if (isType) continue
      addReference(module, imported ?? lazy ?? literal ?? '', { modules, packages })
    }
  }
  return { modules, packages }
}

/** Adds what `name` refers to in a module: another module, a package of the project, or nothing. */
function addReference(module: string, name: string, { modules, packages }: ProgramParts): void {
  if (name.endsWith('.ts')) {
    const file = resolve(dirname(module), name)
    if (existsSync(file) && statSync(file).isFile()) modules.add(file)
  } else if (name.startsWith('@eyrie/')) {
    const file = tryToResolve(module, name)
    if (file) modules.add(file)
  } else {
    const packageName = /^(@[^/]+\/[^/]+|[^@./][^/]*)/.exec(name)?.[1]
    if (packageName && !isBuiltin(name) && Object.hasOwn(dependencies, packageName)) {
      packages.add(packageName)
    }
  }
}

/**
 * Resolves a module of the workspace as Node does. Returns undefined if the name is
 * not that of a module.
 */
function tryToResolve(module: string, name: string): string | undefined {
  try {
    return createRequire(module).resolve(name)
  } catch {
    return undefined
  }
}

/** Returns the folders of packages and of all packages that they need, relative to the project. */
export function listPackageFolders(packages: Iterable<string>): string[] {
  const folders = new Set([...packages].map(name => join('node_modules', name)))
  for (const folder of folders) {
    const manifest = readManifest(join(ROOT, folder))
    const needed = {
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
      ...manifest.peerDependencies,
    }
    for (const name of Object.keys(needed)) {
      const neededFolder = findPackage(folder, name)
      if (neededFolder && !OTHER_RUNTIME.test(name)) folders.add(neededFolder)
    }
  }
  return [...folders].sort()
}

/**
 * Returns the folder of a package that another one imports, as Node finds it. Undefined if it is
 * optional and not installed.
 */
function findPackage(folder: string, name: string): string | undefined {
  for (let parent = folder; parent !== '.'; parent = dirname(parent)) {
    const candidate = join(parent, 'node_modules', name)
    if (existsSync(join(ROOT, candidate, 'package.json'))) return candidate
  }
  const candidate = join('node_modules', name)
  return existsSync(join(ROOT, candidate, 'package.json')) ? candidate : undefined
}

/**
 * Creates a pattern of native files for platforms other than Linux with glibc on an architecture.
 */
const createForeignPattern = (architecture: string) =>
  new RegExp(
    `/bin/napi-v\\d+/(?!linux/${architecture}(/|$)|linux$)[^/]+` +
      `|^node_modules/zeromq/build/(?!manifest|linux(?:$|/${architecture}))` +
      '|/musl(?:/|-|$)',
  )
/** Files that no program loads: declarations, documentation, tests, builds for browsers. */
const UNUSED = [
  /\.(?:d\.[cm]?ts|map|md|markdown|tsbuildinfo|flow|min\.js|standalone\.js)$/i,
  /\/(?:\.github|\.yarn|\.husky|docs|examples|benchmarks?|__tests__|umd)$/i,
  /^node_modules\/(?:@[^/]+\/)?[^/]+\/tests?$/,
  // Further builds for browsers.
  /^node_modules\/(?:mqtt\/dist$|(?:fontkit|pdfkit)\/.*\bbrowser\b|csv-(?:parse|stringify)\/dist\/(?:esm|iife)$)/,
  /^node_modules\/(?:yaml\/browser|pako\/dist|axios\/dist\/browser|axios\/dist\/axios\.js|temporal-polyfill\/(?:full\/)?global\.js)$/,
  // A build for older versions of Node, and the Brotli encoder: fonts are only decoded.
  /^node_modules\/(?:pdfkit\/js\/pdfkit\.old\.js|brotli\/build)$/,
  // The sources of the worker, which is built separately.
  /^node_modules\/mediasoup\/worker$/,
  // Sources that the package also contains compiled, and CommonJS modules: Eyrie
  // consists of ES modules.
  /^node_modules\/(?:(?:zod|@noble\/[^/]+)\/src$|(?:zod|drizzle-orm)\/.*\.cjs$)/,
]

/**
 * Returns whether an image for an architecture needs a file or folder; `path` is
 * relative to the project.
 */
export function isNeeded(path: string, architecture: string): boolean {
  const unneeded = [createForeignPattern(architecture), ...UNUSED]
  return LICENCE.test(path) || !unneeded.some(pattern => pattern.test(path))
}

interface Collection {
  target: string
  programs: readonly string[]
  /** Modules that these programs never load, although they import them. */
  excluded: ReadonlySet<string>
  /** A folder with packages that are omitted. */
  without: string | undefined
  /** Architecture of the image, as Node names it. */
  architecture: string
}

/** Copies the packages of programs to a folder. */
function collect({ target, programs, excluded, without, architecture }: Collection): void {
  for (const folder of listPackageFolders(findProgramParts(programs, excluded).packages)) {
    if (without !== undefined && existsSync(join(without, folder, 'package.json'))) continue
    const source = join(ROOT, folder)
    mkdirSync(join(target, folder), { recursive: true })
    cpSync(source, join(target, folder), {
      recursive: true,
      // Packages below are copied on their own, if they are needed.
      filter: path =>
        !relative(source, path).split('/').includes('node_modules') &&
        isNeeded(relative(ROOT, path), architecture),
    })
  }
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({
    options: {
      without: { type: 'string' },
      exclude: { type: 'string', multiple: true, default: [] },
      architecture: { type: 'string', default: process.arch },
    },
    allowPositionals: true,
  })
  const [target = '', ...programs] = positionals
  collect({
    target: resolve(target),
    programs,
    excluded: new Set(values.exclude.map(module => resolve(ROOT, module))),
    without: values.without && resolve(values.without),
    architecture: values.architecture,
  })
}
