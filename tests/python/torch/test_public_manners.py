"""Training scripts for images, in the manners of public ones: with equal weights, draws and data
both libraries give the same losses over 20 steps."""

import argparse
import copy
import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_losses

STEPS = 20


def mnist(t, draws):
    nn, F, optim = t.nn, t.nn.functional, t.optim

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 4, 3, 1)
            self.conv2 = nn.Conv2d(4, 8, 3, 1)
            self.dropout1 = nn.Dropout(0.0)
            self.fc1 = nn.Linear(8 * 5 * 5, 16)
            self.fc2 = nn.Linear(16, 10)

        def forward(self, x):
            x = F.relu(self.conv1(x))
            x = F.relu(self.conv2(x))
            x = self.dropout1(F.max_pool2d(x, 2))
            x = F.relu(self.fc1(t.flatten(x, 1)))
            return F.log_softmax(self.fc2(x), dim=1)

    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1.0)
    parser.add_argument("--gamma", type=float, default=0.7)
    args = parser.parse_args([])
    use_cuda = t.cuda.is_available()
    device = t.device("cuda" if use_cuda else "cpu")
    images, labels = draws.normal(40, 1, 14, 14), draws.integers(10, 40)
    loader = t.utils.data.DataLoader(t.utils.data.TensorDataset(images, labels), batch_size=8)
    model = draws.start(Net()).to(device)
    optimizer = optim.Adadelta(model.parameters(), lr=args.lr)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=args.gamma)
    losses = []
    for _epoch in range(STEPS // 5):
        model.train()
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            optimizer.zero_grad()
            loss = F.nll_loss(model(data), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        correct, test_loss = 0, 0
        with t.no_grad():
            for data, target in loader:
                output = model(data.to(device))
                target = target.to(device)
                test_loss += F.nll_loss(output, target, reduction="sum").item()
                pred = output.argmax(dim=1, keepdim=True)
                correct += pred.eq(target.view_as(pred)).sum().item()
        losses += [test_loss / 40, correct]
        scheduler.step()
    return losses


def vae(t, draws):
    nn, F = t.nn, t.nn.functional

    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc21, self.fc22 = nn.Linear(20, 8), nn.Linear(8, 3), nn.Linear(8, 3)
            self.fc3, self.fc4 = nn.Linear(3, 8), nn.Linear(8, 20)

        def reparameterize(self, mu, logvar):
            std = t.exp(0.5 * logvar)
            return mu + draws.normal(*mu.shape) * std

        def forward(self, x):
            h = F.relu(self.fc1(x.view(-1, 20)))
            mu, logvar = self.fc21(h), self.fc22(h)
            z = self.reparameterize(mu, logvar)
            return t.sigmoid(self.fc4(F.relu(self.fc3(z)))), mu, logvar

    def loss_function(recon_x, x, mu, logvar):
        BCE = F.binary_cross_entropy(recon_x, x.view(-1, 20), reduction="sum")
        KLD = -0.5 * t.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return BCE + KLD

    model = draws.start(VAE())
    optimizer = t.optim.Adam(model.parameters(), lr=1e-2)
    data, losses = t.sigmoid(draws.normal(16, 4, 5)), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        recon, mu, logvar = model(data)
        loss = loss_function(recon, data, mu, logvar)
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    return losses


def dcgan(t, draws):
    nn = t.nn

    def weights_init(m):
        classname = m.__class__.__name__
        if classname.find("Conv") != -1:
            draws.start(m)
        elif classname.find("BatchNorm") != -1:
            nn.init.constant_(m.weight.data, 1.0)
            nn.init.constant_(m.bias.data, 0)

    netG = nn.Sequential(
        nn.ConvTranspose2d(5, 8, 4, 1, 0, bias=False), nn.BatchNorm2d(8), nn.ReLU(True),
        nn.ConvTranspose2d(8, 1, 4, 2, 1, bias=False), nn.Tanh(),
    )  # fmt: skip
    netD = nn.Sequential(
        nn.Conv2d(1, 8, 4, 2, 1, bias=False), nn.BatchNorm2d(8), nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(8, 1, 4, 1, 0, bias=False), nn.Sigmoid(), nn.Flatten(0),
    )  # fmt: skip
    netG.apply(weights_init)
    netD.apply(weights_init)
    criterion, losses = nn.BCELoss(), []
    optimizerD = t.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
    optimizerG = t.optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))
    for _ in range(STEPS):
        netD.zero_grad()
        label = t.full((4,), 1.0, dtype=t.float)
        errD_real = criterion(netD(draws.normal(4, 1, 8, 8)), label)
        errD_real.backward()
        fake = netG(draws.normal(4, 5, 1, 1))
        label.fill_(0.0)
        errD_fake = criterion(netD(fake.detach()), label)
        errD_fake.backward()
        optimizerD.step()
        netG.zero_grad()
        label.fill_(1.0)
        errG = criterion(netD(fake), label)
        errG.backward()
        optimizerG.step()
        losses += [(errD_real + errD_fake).item(), errG.item()]
    return losses


def unet(t, draws):
    nn, F = t.nn, t.nn.functional

    class DoubleConv(nn.Module):
        def __init__(self, i, o):
            super().__init__()
            self.double_conv = nn.Sequential(
                nn.Conv2d(i, o, kernel_size=3, padding=1, bias=False), nn.BatchNorm2d(o),
                nn.ReLU(inplace=True),
            )  # fmt: skip

        def forward(self, x):
            return self.double_conv(x)

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.inc, self.down = DoubleConv(1, 4), nn.Sequential(nn.MaxPool2d(2), DoubleConv(4, 8))
            self.up = nn.ConvTranspose2d(8, 4, kernel_size=2, stride=2)
            self.conv, self.outc = DoubleConv(8, 4), nn.Conv2d(4, 2, kernel_size=1)

        def forward(self, x):
            x1 = self.inc(x)
            x2 = self.up(self.down(x1))
            dy, dx = x1.size()[2] - x2.size()[2], x1.size()[3] - x2.size()[3]
            x2 = F.pad(x2, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
            return self.outc(self.conv(t.cat([x1, x2], dim=1)))

    def dice(p, y):
        inter = 2 * (p * y).sum(dim=(-1, -2))
        sets = p.sum(dim=(-1, -2)) + y.sum(dim=(-1, -2))
        return ((inter + 1e-6) / (t.where(sets == 0, inter, sets) + 1e-6)).mean()

    model = draws.start(UNet())
    optimizer = t.optim.RMSprop(model.parameters(), lr=1e-3, weight_decay=1e-8, momentum=0.9)
    scheduler = t.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", patience=2)
    images, masks, losses = draws.normal(2, 1, 9, 9), draws.integers(2, 2, 9, 9), []
    for _ in range(STEPS):
        out = model(images)
        loss = nn.CrossEntropyLoss()(out, masks)
        loss = loss + 1 - dice(F.softmax(out, dim=1).float(),
                               F.one_hot(masks, 2).permute(0, 3, 1, 2).float())  # fmt: skip
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step(-loss)
        losses.append(loss.item())
    return [*losses, optimizer.param_groups[0]["lr"]]


def resnet(t, draws):
    nn, S = t.nn, t.optim.lr_scheduler

    class BasicBlock(nn.Module):
        def __init__(self, i, o, stride=1):
            super().__init__()
            self.conv1 = nn.Conv2d(i, o, 3, stride=stride, padding=1, bias=False)
            self.bn1, self.bn2 = nn.BatchNorm2d(o), nn.BatchNorm2d(o)
            self.conv2 = nn.Conv2d(o, o, 3, padding=1, bias=False)
            self.shortcut = nn.Sequential()
            if stride != 1 or i != o:
                self.shortcut = nn.Sequential(
                    nn.Conv2d(i, o, 1, stride=stride, bias=False), nn.BatchNorm2d(o)
                )

        def forward(self, x):
            out = self.bn2(self.conv2(t.relu(self.bn1(self.conv1(x)))))
            out += self.shortcut(x)
            return t.relu(out)

    model = draws.start(nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(),
        BasicBlock(4, 4), BasicBlock(4, 8, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(8, 10),
    ))  # fmt: skip
    model = nn.DataParallel(model)
    optimizer = t.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4,
                            nesterov=True)  # fmt: skip
    scheduler = S.SequentialLR(optimizer, [
        S.LinearLR(optimizer, 0.1, total_iters=5), S.CosineAnnealingLR(optimizer, T_max=STEPS - 5),
    ], milestones=[5])  # fmt: skip
    criterion, losses = nn.CrossEntropyLoss(label_smoothing=0.1), []
    for _ in range(STEPS):
        inputs, targets = draws.normal(6, 3, 8, 8), draws.integers(10, 6)
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses += [loss.item(), scheduler.get_last_lr()[0]]
    return losses


def diffusion(t, draws):
    nn, F = t.nn, t.nn.functional
    T = 10

    class SinusoidalPosEmb(nn.Module):
        def forward(self, x):
            emb = t.exp(t.arange(4, device=x.device) * -(math.log(10000) / 3))
            emb = x[:, None] * emb[None, :]
            return t.cat((emb.sin(), emb.cos()), dim=-1)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            betas = t.linspace(1e-4, 0.02, T, dtype=t.float64)
            alphas = t.cumprod(1.0 - betas, dim=0)
            self.register_buffer("root", t.sqrt(alphas).to(t.float32))
            self.register_buffer("rest", t.sqrt(1.0 - alphas).to(t.float32), persistent=False)
            self.time_mlp = nn.Sequential(SinusoidalPosEmb(), nn.Linear(8, 8), nn.SiLU())
            self.conv1, self.norm = nn.Conv2d(1, 8, 3, padding=1), nn.GroupNorm(2, 8)
            self.conv2 = nn.Conv2d(8, 1, 3, padding=1)

        def extract(self, a, time):
            return a.gather(-1, time).reshape(-1, 1, 1, 1)

        def forward(self, x, time, noise):
            noisy = self.extract(self.root, time) * x + self.extract(self.rest, time) * noise
            h = self.norm(self.conv1(noisy)) + self.time_mlp(time)[:, :, None, None]
            return F.mse_loss(self.conv2(F.silu(h)), noise)

    model = draws.start(Model())
    ema = copy.deepcopy(model)
    for p in ema.parameters():
        p.requires_grad_(False)
    optimizer, losses = t.optim.AdamW(model.parameters(), lr=5e-3), []
    for _ in range(STEPS):
        loss = model(draws.normal(3, 1, 6, 6), draws.integers(T, 3), draws.normal(3, 1, 6, 6))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        with t.no_grad():
            for e, p in zip(ema.parameters(), model.parameters()):
                e.mul_(0.9).add_(p.data, alpha=0.1)
        losses.append(loss.item())
    x, time = draws.normal(2, 1, 6, 6), t.full((2,), 3, dtype=t.long)
    return [*losses, ema(x, time, draws.normal(2, 1, 6, 6)).item(), len(ema.state_dict())]


SCRIPTS = (mnist, vae, dcgan, unet, resnet, diffusion)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_in_public_manners_learn_the_same(script):
    check_losses(script, STEPS)
