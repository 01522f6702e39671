import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { installedProgram } from '../../../test/fixtures/requirements/installed-program.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { findOutdatedPackages } from './outdated-packages.ts'
import { monitorPackages } from './package-monitor.ts'

type Versions = Record<string, string>

const formatPackages = (versions: Versions, fields: string) =>
  Object.entries(versions)
    .map(
      ([name, version]) => `Package: ${name}\nVersion: ${version}\nArchitecture: all\n${fields}\n`,
    )
    .join('\n')

/**
 * A package database with installed packages, and an archive with others. Returns the
 * variables that select it.
 */
function createPackageDatabase(installed: Versions, archive: Versions): NodeJS.ProcessEnv {
  const root = createTemporaryFolder()
  for (const folder of [
    'dpkg/info',
    'dpkg/updates',
    'lists/partial',
    'cache/archives/partial',
    'archive',
  ]) {
    mkdirSync(join(root, folder), { recursive: true })
  }
  const fields = 'Maintainer: Eyrie\nDescription: test\n'
  writeFileSync(
    join(root, 'dpkg/status'),
    formatPackages(installed, `Status: install ok installed\n${fields}`),
  )
  const files =
    'Filename: x.deb\nSize: 1\nSHA256: 0000000000000000000000000000000000000000000000000000000000000000\n'
  writeFileSync(join(root, 'archive/Packages'), formatPackages(archive, `${fields}${files}`))
  writeFileSync(join(root, 'sources.list'), `deb [trusted=yes] file:${root}/archive ./\n`)
  const configuration = join(root, 'apt.conf')
  writeFileSync(
    configuration,
    [
      `Dir::State "${root}";`,
      `Dir::State::status "${root}/dpkg/status";`,
      `Dir::State::lists "${root}/lists";`,
      `Dir::Cache "${root}/cache";`,
      `Dir::Etc::sourcelist "${root}/sources.list";`,
      'Dir::Etc::sourceparts "-";',
      'Dir::Etc::preferencesparts "-";',
      'APT::Sandbox::User "root";',
      'APT::Update::Post-Invoke-Success "";',
    ].join('\n'),
  )
  const environment = {
    PATH: process.env.PATH,
    APT_CONFIG: configuration,
    DPKG_ADMINDIR: join(root, 'dpkg'),
  }
  execFileSync('apt-get', ['update'], { env: environment, stdio: 'pipe' })
  return environment
}

describe('packages that parse video', needs(installedProgram('apt-get')), () => {
  const installed = { 'gstreamer1.0-libav': '1.22.0-2', libavcodec59: '7:5.1.9-1', coturn: '4.5-1' }

  it('are reported if the archive of the machine has a newer version', async () => {
    const environment = createPackageDatabase(installed, {
      'gstreamer1.0-libav': '1.22.0-2+deb12u1',
      libavcodec59: '7:5.1.9-1',
      coturn: '4.6-1',
    })
    const outdated = await findOutdatedPackages(environment)
    expect(outdated).toEqual([
      { name: 'gstreamer1.0-libav', installed: '1.22.0-2', candidate: '1.22.0-2+deb12u1' },
    ])

    const monitor = monitorPackages(createLog('management', 'silent'), {
      find: async () => outdated,
      firstCheckAfterMs: 0,
    })
    onTestFinished(() => monitor.stop())
    await vi.waitFor(() =>
      expect(monitor.alarms()).toEqual([
        expect.stringContaining(
          'gstreamer1.0-libav 1.22.0-2 (1.22.0-2+deb12u1). Run make run as root',
        ),
      ]),
    )
  })

  it('are not reported if they are newer than the archive, or unknown to it', async () => {
    const environment = createPackageDatabase(installed, { libavcodec59: '7:5.1.8-1' })
    expect(await findOutdatedPackages(environment)).toEqual([])
  })

  it('are not reported on a system without package management', async () => {
    expect(await findOutdatedPackages({ PATH: createTemporaryFolder() })).toEqual([])
  })
})
