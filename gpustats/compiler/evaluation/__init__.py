"""What the Ops of PyTensor compute, without PyTensor."""
