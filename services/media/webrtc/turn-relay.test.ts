import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openBrowser } from '../../../test/fixtures/browser/browser.ts'
import { openWhepPage } from '../../../test/fixtures/browser/whep-page.ts'
import { createDesiredSource } from '../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../test/fixtures/media/test-video.ts'
import {
  startTurnServer,
  turnServerRequirement,
} from '../../../test/fixtures/network/turn-server.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import { webrtcWorkerRequirement } from '../../../test/fixtures/requirements/webrtc-worker.ts'

const PATIENCE = { timeout: 60_000, interval: 200 }

describe('WebRTC through TURN', needs(webrtcWorkerRequirement, turnServerRequirement), () => {
  it('reaches a relay-only viewer through the configured TURN server', async () => {
    const turn = await startTurnServer()
    const media = await serveMedia({ settings: { media: { webrtc: { ice_servers: [turn] } } } })
    const path = join(media.folder, 'clip.mp4')
    makeVideo(path, { frames: 200 })
    const control = await media.connectControl()
    await control.apply(createDesiredSource({ id: 1, type: 'inf', url: path }))
    await control.waitForStatus(1, ({ state }) => state === 'running')

    const browser = await openBrowser()
    onTestFinished(() => browser.close())
    const viewer = await openWhepPage(browser, media.url, '/streams/1/whep', {
      configuration: { iceServers: [turn], iceTransportPolicy: 'relay' },
    })
    expect(viewer.answer.link).toContain(
      `<${turn.urls[0]}>; rel="ice-server"; username="${turn.username}"`,
    )
    await expect
      .poll(async () => (await viewer.getShownFrames()).length, PATIENCE)
      .toBeGreaterThan(50)
    expect(await viewer.getCandidateTypes()).toEqual(['relay', 'host'])
  }, 180_000)
})
