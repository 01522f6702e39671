import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installedProgram } from '../fixtures/requirements/installed-program.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'
import { findRelativeImports, productFiles, projectFiles, read, root } from './sources.ts'

const documents = projectFiles().filter(
  file => /^docs\/.*\.md$/.test(file) || file === 'README.md' || file === 'plugins/README.md',
)

/** The text outside of code blocks, whose contents are examples. */
const withoutCodeBlocks = (markdown: string) => markdown.replace(/^( *)```[\s\S]*?^\1```/gm, '')

/** Code spans that name a file or folder of the project, such as `services/media/main.ts`. */
function findPaths(markdown: string): string[] {
  const spans = withoutCodeBlocks(markdown).matchAll(/`([^`\n]+)`/g)
  return [...spans]
    .map(([, span]) => span!)
    .filter(span => /^(services|sdk|console|plugins|appliance|scene|test)\/[\w./-]*$/.test(span))
}

/** Targets of links between documents: relative, with or without an anchor. */
function findRelativeLinks(markdown: string): string[] {
  const links = withoutCodeBlocks(markdown).matchAll(/\]\(([^)\s]+)\)/g)
  return [...links].map(([, target]) => target!).filter(target => !/^[a-z]+:/i.test(target))
}

/** The anchors that GitHub generates for headings. */
function findAnchors(markdown: string): string[] {
  const seen = new Map<string, number>()
  return [...withoutCodeBlocks(markdown).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => {
    const anchor = heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    return count ? `${anchor}-${count}` : anchor
  })
}

function isResolved(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path ? join(dirname(document), path) : document
  if (!existsSync(join(root, target))) return false
  return !anchor || !target.endsWith('.md') || findAnchors(read(target)).includes(anchor)
}

describe('documents', () => {
  it.each(documents)('%s names only paths that exist', document => {
    expect(findPaths(read(document)).filter(path => !existsSync(join(root, path)))).toEqual([])
  })

  it.each(documents)('%s links only to documents and headings that exist', document => {
    expect(findRelativeLinks(read(document)).filter(link => !isResolved(document, link))).toEqual(
      [],
    )
  })
})

describe('guides', () => {
  it.each(documents)(
    '%s write commands as ./eyrie, as a reader of a checkout runs them',
    document => {
      const command =
        /(?<![./\w-])eyrie (?:status|channels|watch|deploy|logs|support|check|backup|restore|camera|license|model|plugin|user)\b/g
      expect(read(document).match(command)).toBeNull()
    },
  )

  it('promise only alarms that a service raises', () => {
    const [, table = ''] = read('docs/guide/running.md').split('| Service | Alarm | Raised |')
    const [rows = ''] = table.split('\n\n')
    const alarms = [...rows.matchAll(/`([^`]+)`/g)].map(([, alarm]) => alarm!)
    expect(alarms.length).toBeGreaterThan(5)
    const sources = productFiles().map(read).join('\n')
    // An ellipsis stands for a variable.
    const isRaised = (alarm: string) =>
      alarm.split('…').every(part => sources.includes(part.trim()))
    expect(alarms.filter(alarm => !isRaised(alarm))).toEqual([])
  })

  it(
    'contain systemd units that systemd accepts',
    needs(installedProgram('systemd-analyze')),
    () => {
      const folder = createTemporaryFolder()
      const units = [
        ...read('docs/guide/systemd.md').matchAll(
          /`[\w/]+\/([\w-]+\.service)`[^`]*```ini\n([\s\S]*?)```/g,
        ),
      ]
      expect(units).toHaveLength(2)
      for (const [, name, unit] of units) {
        const file = join(folder, name!)
        writeFileSync(file, unit!.replaceAll('/opt/eyrie', root))
        const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], {
          encoding: 'utf8',
        })
        expect({ name, status, stderr }).toEqual({ name, status: 0, stderr: '' })
      }
    },
  )
})

/** The folder directly below a service that contains a file, such as `services/media/live`. */
const serviceFolder = (file: string) =>
  /^services\/(media|engine|management|scheduler)\/[^/]+(?=\/)/.exec(file)?.[0]

describe('layers in the architecture document', () => {
  const rows = [
    ...read('docs/design/architecture.md').matchAll(/^\| `(services\/\w+\/[\w-]+)` \|/gm),
  ]
  const layers = rows.map(([, folder]) => folder!)

  it('list every folder of every service', () => {
    const folders = new Set(productFiles().flatMap(file => serviceFolder(file) ?? []))
    expect(layers.toSorted()).toEqual([...folders].toSorted())
  })

  it('are ordered from top to bottom', () => {
    const upward = productFiles().flatMap(file => {
      const layer = layers.indexOf(serviceFolder(file) ?? '')
      return findRelativeImports(file)
        .filter(target => layer > layers.indexOf(serviceFolder(target) ?? ''))
        .filter(target => serviceFolder(target) !== undefined)
        .map(target => `${file} imports ${target}`)
    })
    expect(upward).toEqual([])
  })
})
