// The built program, composed once more with the provider `fake` beside its own: what cannot be had on this machine is played by it. Its world
// is the file that ACCEDE_FAKE_WORLD names, so that it outlives the process.
import { runProcess } from '../../dist/cli/process.js';
import { dockerProvider } from '../../dist/providers/docker/provider.js';
import { fakeProvider } from '../../dist/providers/fake/provider.js';
import { fileWorld } from '../../dist/providers/fake/world-file.js';
import { localProvider } from '../../dist/providers/local/provider.js';
import { createRegistry } from '../../dist/providers/registry.js';

const world = fileWorld(process.env['ACCEDE_FAKE_WORLD']);
await runProcess(async () => createRegistry([dockerProvider, fakeProvider(world), localProvider]));
