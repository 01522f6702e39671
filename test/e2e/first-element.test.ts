// @module-tag long

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { openConsole } from '../fixtures/browser/local-session.ts'
import { HALF_SIZE, renderTestScene } from '../fixtures/media/rendered-scene.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import { installedProgram } from '../fixtures/requirements/installed-program.ts'
import { needs } from '../fixtures/requirements/needs.ts'

// Does what the page says, with its commands and its code, from the first to the last block.

const root = resolve(import.meta.dirname, '../..')
const PAGE = readFileSync(join(root, 'docs/guide/first-element.md'), 'utf8')
const LIMIT_MS = 300_000

/** A block of code of the page, and the sentence before it, which says what to do with it. */
interface Block {
  language: string
  code: string
  instruction: string
}

const blocks: Block[] = [...PAGE.matchAll(/([^\n]*)\n(?:\n)?```(\w*)\n([\s\S]*?)```/g)].map(
  ([, instruction = '', language = '', code = '']) => ({ instruction, language, code }),
)

let appliance: Appliance
let browser: Browser
let folder: string
/**
 * A checkout in which `make run` was called: the command line, and the data folder of the
 * appliance.
 */
let checkout: string

beforeAll(async () => {
  // The beginning of the scene that `make run` analyses, which shows a dozen people.
  const scene = await renderTestScene({ seconds: 3, fps: 5, ...HALF_SIZE })
  appliance = await startAppliance({
    source: scene.video,
    model: 'scene-detector',
    environment: { EYRIE_MEDIA_ROOTS: scene.folder },
  })
  browser = await openBrowser()
  await appliance.waitForLine(/ready: open/)
  folder = mkdtempSync(join(tmpdir(), 'eyrie-first-element-'))
  checkout = join(folder, 'checkout')
  mkdirSync(checkout)
  symlinkSync(join(root, 'eyrie'), join(checkout, 'eyrie'))
  symlinkSync(appliance.data, join(checkout, '.eyrie'))
}, LIMIT_MS)
afterAll(async () => {
  await browser?.close()
  await appliance?.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs the commands of a block in the checkout. Returns what they print. */
async function runCommands(code: string): Promise<string> {
  const { host } = new URL(appliance.engineUrl)
  const script = code.replaceAll('localhost:8100', host)
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: checkout,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, EYRIE_ENGINE_URL: appliance.engineUrl },
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  return stdout
}

/** Writes a block into the file that the instruction names: all of it, or in place of a text. */
function editFile({ instruction, code }: Block): void {
  const [, whole] = /content of `([^`]+)` by:$/.exec(instruction) ?? []
  if (whole) {
    writeFileSync(join(checkout, whole), code)
    return
  }
  const [, part, text] = /In `([^`]+)`, replace `([^`]+)` by:$/.exec(instruction) ?? []
  const file = join(checkout, part!)
  const content = readFileSync(file, 'utf8')
  expect(content.split(text!)).toHaveLength(2)
  writeFileSync(file, content.replace(text!, code.trim()))
}

/**
 * Asserts that a program has printed the lines of a block, in which an ellipsis matches any text.
 */
function assertPrinted(printed: string, { code }: Block): void {
  for (const line of code.trimEnd().split('\n')) expect(printed).toContain(line.replace(/ …$/, ''))
}

/** The live view, in a window of this width. */
async function openLiveView(width: number): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 800 } })
  await openConsole(page, appliance)
  return page
}

it('the guide to the first element leads from create to a count in the live view', {
  ...needs(installedProgram('curl'), installedProgram('jq')),
  timeout: 2 * LIMIT_MS,
}, async () => {
  expect(blocks.map(({ language }) => language || 'output').join(' ')).toBe(
    'sh ts ts sh output json sh output sh output sh sh output',
  )
  let printed = ''
  for (const block of blocks) {
    if (block.language === 'sh') printed = await runCommands(block.code)
    else if (block.language === '') assertPrinted(printed, block)
    else editFile(block)
  }

  for (const width of [1280, 390]) {
    const page = await openLiveView(width)
    const card = page.getByLabel('Counts').locator('.card', { hasText: /^person/ })
    await expect
      .poll(() => card.innerText(), { timeout: LIMIT_MS })
      .toMatch(/[1-9]\d*\s+visible\s+[1-9]\d*\s+most/)
    const event = page.getByLabel('Events').locator('.event', { hasText: 'record' }).first()
    await expect
      .poll(() => event.innerText(), { timeout: LIMIT_MS })
      .toMatch(/record\s+visible [1-9]/)
    const { x, width: fieldWidth } = (await event.locator('.fields').boundingBox())!
    expect(x).toBeGreaterThanOrEqual(0)
    expect(x + fieldWidth).toBeLessThanOrEqual(width)
    await page.close()
  }
})
