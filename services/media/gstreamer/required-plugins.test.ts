import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startMedia } from '../../../test/fixtures/media.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'

test('without GStreamer’s plugins media does not start, and names the packages to install', async () => {
  const folder = temporaryFolder()
  const withoutPlugins = { GST_PLUGIN_SYSTEM_PATH_1_0: folder, GST_REGISTRY: join(folder, 'registry') }
  await expect(startMedia(withoutPlugins)).rejects.toThrow(
    /GStreamer lacks .*h264parse.*apt-get install .*gstreamer1\.0-plugins-bad .*gstreamer1\.0-libav/,
  )
})
