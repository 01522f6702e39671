import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { listRoutes } from '@eyrie/contract/engine-route'
import { allManagementRoutes } from '@eyrie/contract/management/index'
import { routesV3 } from '@eyrie/contract/routes-v3'
import { beforeAll, describe, expect, test } from 'vitest'
import { renderReference } from './reference.ts'

const root = resolve(import.meta.dirname, '../..')

describe('API reference', () => {
  let pages: Record<string, string>
  beforeAll(async () => {
    pages = await renderReference(root)
  })

  test('in docs/ref is up to date: otherwise run make generate', () => {
    const files = globSync('*', { cwd: join(root, 'docs/ref') })
    expect(
      Object.fromEntries(
        files.map(file => [file, readFileSync(join(root, 'docs/ref', file), 'utf8')]),
      ),
    ).toEqual(pages)
  })

  test('contains every operation', () => {
    for (const { method, path } of listRoutes(routesV3)) {
      expect(pages['engine-v3.md']).toContain(`### \`${method.toUpperCase()} ${path}\``)
    }
    for (const { method, path } of allManagementRoutes) {
      expect(pages['management.md']).toContain(`### \`${method.toUpperCase()} ${path}\``)
    }
  })

  test('links only to types on the same page', () => {
    for (const page of Object.values(pages)) {
      const described = [...page.matchAll(/^### (\w+)$/gm)].map(
        ([, name]) => `#${name!.toLowerCase()}`,
      )
      for (const [, target] of page.matchAll(/\]\((#\w+)\)/g)) expect(described).toContain(target)
    }
  })
})
