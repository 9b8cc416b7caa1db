"""Training scripts with distributions, schedules, averaged weights and policies, in the manners of
public ones: with equal weights, draws and data both libraries give the same losses, about, over 20
steps."""

import copy
import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_losses

STEPS = 20


def variational(t, draws):
    """An autoencoder whose parts are distributions, with a flow over its latent numbers."""
    nn, F = t.nn, t.nn.functional
    from_name = t.distributions
    Normal, Bernoulli, Independent = from_name.Normal, from_name.Bernoulli, from_name.Independent

    class Planar(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.u = nn.Parameter(t.zeros(1, width))
            self.w = nn.Parameter(t.zeros(1, width))
            self.bias = nn.Parameter(t.zeros(1))

        def forward(self, z):
            inside = F.linear(z, self.w, self.bias)
            moved = z + self.u * t.tanh(inside)
            slope = (1 - t.tanh(inside) ** 2) * self.w
            return moved, t.log(t.abs(1 + slope @ self.u.t()) + 1e-8).squeeze(-1)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(12, 16), nn.Softplus(), nn.Linear(16, 2 * 3))
            self.flows = nn.ModuleList(Planar(3) for _ in range(2))
            self.decoder = nn.Sequential(nn.Linear(3, 16), nn.ELU(), nn.Linear(16, 12))

        def forward(self, x, noise):
            mean, raw = self.encoder(x).chunk(2, dim=-1)
            posterior = Independent(Normal(mean, F.softplus(raw) + 1e-3), 1)
            z = posterior.mean + posterior.stddev * noise
            total = posterior.log_prob(z)
            for flow in self.flows:
                z, change = flow(z)
                total = total - change
            prior = Independent(Normal(t.zeros_like(z), t.ones_like(z)), 1)
            likelihood = Independent(Bernoulli(logits=self.decoder(z)), 1)
            exact = t.distributions.kl_divergence(
                Normal(mean, posterior.stddev), Normal(t.zeros_like(mean), 1.0)
            )
            return -(likelihood.log_prob(x) + prior.log_prob(z) - total).mean(), exact.sum(
                -1
            ).mean()

    model = draws.start(Model())
    optimizer = t.optim.Adamax(model.parameters(), lr=3e-3)
    schedule = t.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.97)
    data = (draws.normal(24, 12) > 0).float()
    losses = []
    for step in range(STEPS):
        batch = data[(step % 3) * 8 : (step % 3) * 8 + 8]
        loss, divergence = model(batch, draws.normal(8, 3))
        annealed = loss + min(1.0, step / 10) * 0.1 * divergence
        optimizer.zero_grad()
        annealed.backward()
        optimizer.step()
        schedule.step()
        losses += [loss.item(), divergence.item()]
    return losses


def translation(t, draws):
    """nn.Transformer with a warm-up, smoothed labels and gradients that are gathered."""
    nn = t.nn

    class Model(nn.Module):
        def __init__(self, words=11, width=8):
            super().__init__()
            self.source, self.target = nn.Embedding(words, width), nn.Embedding(words, width)
            place = t.arange(0, 12).unsqueeze(1)
            rate = t.exp(t.arange(0, width, 2) * (-math.log(10000.0) / width))
            table = t.zeros(12, width)
            table[:, 0::2], table[:, 1::2] = t.sin(place * rate), t.cos(place * rate)
            self.register_buffer("table", table.unsqueeze(0), persistent=False)
            self.transformer = nn.Transformer(
                width, 2, 1, 1, 16, dropout=0.0, batch_first=True, norm_first=True
            )
            self.generator = nn.Linear(width, words)

        def forward(self, source, target):
            hidden = self.source(source) * math.sqrt(8) + self.table[:, : source.size(1)]
            decoded = self.target(target) * math.sqrt(8) + self.table[:, : target.size(1)]
            mask = nn.Transformer.generate_square_subsequent_mask(target.size(1))
            made = self.transformer(
                hidden, decoded, tgt_mask=mask, src_key_padding_mask=source == 0,
                memory_key_padding_mask=source == 0,
            )  # fmt: skip
            return self.generator(made)

    model = draws.start(Model())
    optimizer = t.optim.AdamW(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    warmed = t.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: 8**-0.5 * min((step + 1) ** -0.5, (step + 1) * 8**-1.5)
    )
    criterion = nn.CrossEntropyLoss(ignore_index=0, label_smoothing=0.1)
    losses = []
    for step in range(STEPS):
        source, target = draws.integers(11, 4, 7), draws.integers(10, 4, 6) + 1
        source[:, 0] = 1
        logits = model(source, target[:, :-1])
        loss = criterion(logits.reshape(-1, 11), target[:, 1:].reshape(-1))
        (loss / 2).backward()
        if step % 2:
            losses.append(nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            warmed.step()
        losses.append(loss.item())
    return losses


def averaged(t, draws):
    """A denoiser with the cosine schedule, whose weights are averaged, and samples of it."""
    nn, F = t.nn, t.nn.functional

    class Denoiser(nn.Module):
        def __init__(self):
            super().__init__()
            self.time = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 16))
            self.before, self.after = nn.Conv1d(1, 16, 3, padding=1), nn.Conv1d(16, 1, 3, padding=1)
            self.norm = nn.GroupNorm(4, 16)

        def forward(self, x, step):
            rates = t.exp(t.arange(4) * -(math.log(10000) / 3))
            angles = step[:, None].float() * rates[None, :]
            told = self.time(t.cat((angles.sin(), angles.cos()), dim=-1))
            hidden = self.norm(self.before(x)) + told[:, :, None]
            return self.after(F.silu(hidden))

    def extract(table, step, shape):
        return table.gather(-1, step).reshape(step.shape[0], *((1,) * (len(shape) - 1)))

    count = 16
    at = t.linspace(0, count, count + 1, dtype=t.float64) / count
    kept = t.cos((at + 0.008) / 1.008 * math.pi * 0.5) ** 2
    kept = kept / kept[0]
    betas = t.clip(1 - (kept[1:] / kept[:-1]), 0, 0.999).float()
    alphas = 1.0 - betas
    product = t.cumprod(alphas, dim=0)
    model = draws.start(Denoiser())
    ema = copy.deepcopy(model).eval().requires_grad_(False)
    other = t.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=t.optim.swa_utils.get_ema_multi_avg_fn(0.9)
    )
    optimizer = t.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    schedule = t.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=STEPS)
    losses = []
    for _ in range(STEPS):
        x, noise, step = draws.normal(6, 1, 10), draws.normal(6, 1, 10), draws.integers(count, 6)
        noised = extract(product.sqrt(), step, x.shape) * x
        noised = noised + extract((1 - product).sqrt(), step, x.shape) * noise
        weight = extract(product / (1 - product), step, x.shape).clamp(max=5)
        loss = (weight * F.smooth_l1_loss(model(noised, step), noise, reduction="none")).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        other.update_parameters(model)
        with t.no_grad():
            for mine, theirs in zip(ema.parameters(), model.parameters()):
                mine.lerp_(theirs, 0.1)
        losses.append(loss.item())
    sample = draws.normal(2, 1, 10)
    with t.inference_mode():
        for number in reversed(range(count)):
            step = t.full((2,), number, dtype=t.long)
            guess = extract(betas, step, sample.shape) * ema(sample, step)
            guess = guess / extract((1 - product).sqrt(), step, sample.shape)
            sample = (sample - guess) / extract(alphas.sqrt(), step, sample.shape)
        losses += [sample.abs().mean().item(), other(sample, step).square().sum().item()]
    return losses


def policy(t, draws):
    """Proximal policy optimisation of a categorical policy, with advantages over time."""
    nn, F = t.nn, t.nn.functional
    Categorical = t.distributions.Categorical

    class ActorCritic(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
            self.actor, self.critic = nn.Linear(16, 3), nn.Linear(16, 1)
            nn.init.zeros_(self.actor.bias)

        def forward(self, state):
            hidden = self.body(state)
            return Categorical(logits=self.actor(hidden)), self.critic(hidden).squeeze(-1)

    model = draws.start(ActorCritic())
    optimizer = t.optim.RMSprop(model.parameters(), lr=1e-3, alpha=0.95, eps=1e-5, momentum=0.5)
    losses = []
    for _round in range(STEPS // 4):
        states, actions = draws.normal(12, 4), draws.integers(3, 12)
        rewards = draws.normal(12).tolist()
        with t.no_grad():
            before, values = model(states)
            old = before.log_prob(actions)
        advantages, last = t.zeros(12), 0.0
        for step in reversed(range(12)):
            following = values[step + 1].item() if step < 11 else 0.0
            delta = rewards[step] + 0.99 * following - values[step].item()
            last = delta + 0.99 * 0.95 * last
            advantages[step] = last
        returns = advantages + values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        for _epoch in range(4):
            now, value = model(states)
            ratio = t.exp(now.log_prob(actions) - old)
            clipped = t.clamp(ratio, 0.8, 1.2) * advantages
            gain = t.min(ratio * advantages, clipped).mean()
            loss = -gain + 0.5 * F.mse_loss(value, returns) - 0.01 * now.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            apart = t.distributions.kl_divergence(before, model(states)[0]).mean()
            losses += [loss.item(), apart.item()]
    return losses


SCRIPTS = (variational, translation, averaged, policy)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_in_public_manners_learn_the_same(script):
    check_losses(script, STEPS)
