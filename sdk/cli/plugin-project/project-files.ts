import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { manifest } from '@eyrie/contract/plugin'
import { SDK_VERSION } from '@eyrie/contract/sdk-version'
import type { z } from 'zod'
import { SDK_ARCHIVE_NAME } from '../sdk-package/build-sdk-package.ts'

/** What the author of a new plugin has decided. */
export interface PluginProject {
  name: string
  language: 'typescript' | 'python'
  /** What the element processes: the objects of frames, or their pictures. */
  reads: 'objects' | 'pictures'
  /** One sentence for the catalog. */
  description: string
}

const TEMPLATE = join(import.meta.dirname, 'template')
const ROOT = resolve(import.meta.dirname, '../../..')

/**
 * Where the project contains the SDK. The folder is hidden, so that it does not become part
 * of the plugin package.
 */
export const SDK_ARCHIVE = `.sdk/${SDK_ARCHIVE_NAME}`

/** Returns the files of a new project, by path. */
export function createProjectFiles(plugin: PluginProject): Promise<Record<string, string>> {
  return plugin.language === 'python' ? createPythonFiles(plugin) : createTypeScriptFiles(plugin)
}

async function createPythonFiles(plugin: PluginProject): Promise<Record<string, string>> {
  const read = async (path: string) =>
    fillIn(await readFile(join(TEMPLATE, 'python', path), 'utf8'), plugin)
  return {
    'element.py': await read(`${plugin.reads}/element.py`),
    'test_element.py': await read(`${plugin.reads}/test_element.py`),
    'README.md': await read('README.md'),
    'pyproject.toml': await read('pyproject.toml'),
    '.github/workflows/test.yaml': await read('test.yaml'),
    '.gitignore': '__pycache__/\n.mypy_cache/\n*.tgz\n',
    'plugin.json': toJson(createManifest(plugin)),
  }
}

async function createTypeScriptFiles(plugin: PluginProject): Promise<Record<string, string>> {
  const read = async (path: string) => fillIn(await readFile(join(TEMPLATE, path), 'utf8'), plugin)
  return {
    'element.ts': await read(`${plugin.reads}/element.ts`),
    'element.test.ts': await read(`${plugin.reads}/element-test.ts`),
    'README.md': await read('common/README.md'),
    '.github/workflows/test.yaml': await read('common/test.yaml'),
    '.gitignore': 'node_modules/\n*.tgz\n!.sdk/*.tgz\n',
    'plugin.json': toJson(createManifest(plugin)),
    'package.json': toJson(await createPackageFile(plugin)),
    'tsconfig.json': toJson(TYPESCRIPT_CONFIG),
  }
}

/** Replaces the placeholders in a file of the template. */
function fillIn(text: string, { name, description }: PluginProject): string {
  return (
    text
      .replaceAll('exampleElement', toVariableName(name))
      .replaceAll('ExampleElement', toClassName(name))
      .replaceAll('example-element', name)
      // A function, because `$` has a special meaning in a replacement text.
      .replaceAll('example-description', () => description)
  )
}

/**
 * Returns the name of the variable of an element, such as `dwellAlarmElement` for `dwell-alarm`.
 * The suffix ensures that it is not a reserved word, even if the name is `class`.
 */
function toVariableName(name: string): string {
  const camelCase = name.replace(/-+(.)?/g, (_, next = '') => next.toUpperCase())
  return `${camelCase}Element`
}

const toClassName = (name: string) => `${name[0]!.toUpperCase()}${toVariableName(name).slice(1)}`

/** Creates the manifest without schemas, which `eyrie plugin generate` adds. */
function createManifest({
  name,
  language,
  reads,
  description,
}: PluginProject): z.input<typeof manifest> {
  const title = `${name[0]!.toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`
  const readsPictures = reads === 'pictures'
  return {
    name,
    version: '1.0.0-dev',
    license: 'Apache-2.0',
    sdk: `^${SDK_VERSION}`,
    entry: language === 'python' ? 'element.py' : 'element.ts',
    elements: [
      {
        name,
        title,
        description,
        passthrough: true,
        runs: 'worker',
        needs: readsPictures ? ['pixels'] : undefined,
        capabilities: {
          frames: readsPictures ? { format: 'GRAY8', width: 64, height: 36 } : undefined,
          budget_ms: 5,
        },
      },
    ],
  }
}

async function createPackageFile({ name, description }: PluginProject): Promise<object> {
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  return {
    name: `eyrie-plugin-${name}`,
    version: '1.0.0-dev',
    description,
    license: 'Apache-2.0',
    type: 'module',
    files: ['plugin.json', '**/*.ts', '!**/*.test.ts'],
    scripts: {
      generate: 'eyrie-generate .',
      test: 'tsc && node --test',
    },
    devDependencies: {
      '@eyrie/element': `file:${SDK_ARCHIVE}`,
      '@types/node': devDependencies['@types/node'],
      typescript: devDependencies.typescript,
    },
  }
}

/**
 * The settings that the documentation of Node recommends for TypeScript that Node runs
 * without compiling it.
 */
const TYPESCRIPT_CONFIG = {
  compilerOptions: {
    noEmit: true,
    target: 'esnext',
    module: 'nodenext',
    strict: true,
    types: ['node'],
    rewriteRelativeImportExtensions: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
  },
}

const toJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`
