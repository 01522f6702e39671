import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { getSceneFile } from '../quickstart/demo-scene.ts'

/**
 * How three containers agree on the demo scene: `init` requests it, `scene` renders it, and
 * `quickstart` waits for it. The request is a file in the folder of media, which all of them see.
 */

const POLL_MS = 200

const getRequestFile = (data: string) => join(data, 'media/scene.request')

export const requestScene = (data: string): void => writeFileSync(getRequestFile(data), '')

/** Withdraws the request, because the scene is not needed, or because it cannot be rendered. */
export const withdrawScene = (data: string): void => rmSync(getRequestFile(data), { force: true })

/**
 * Resolves when the first seconds of the scene can be played: then, its file appears. Rejects if
 * the request is withdrawn.
 */
export async function waitForScene(data: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(getSceneFile(data))) {
    if (!existsSync(getRequestFile(data))) {
      throw new Error(
        'the demo scene could not be rendered: see docker compose logs scene, or set SOURCE to a video of your own',
      )
    }
    await wait(POLL_MS, undefined, { signal })
  }
}
